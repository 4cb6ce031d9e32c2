// Package lifeline ends a server when the process that started it is gone.
//
// A starter that is killed with SIGKILL cannot stop its children. It can hold the writing end of
// their standard input, though, which the kernel closes whatever happens to the starter.
package lifeline

import (
	"io"
	"os"
)

// Variable is the environment variable that asks for a lifeline; its only meaning is "stdin".
const Variable = "INFORMER_LIFELINE"

// orphaned is the exit status of a server that lost its starter.
const orphaned = 70

// Hold returns at once. If Variable asks for it, the process exits when standard input ends.
func Hold() {
	if os.Getenv(Variable) != "stdin" {
		return
	}
	go func() {
		// Whether the pipe ended or broke makes no difference: nobody holds the other end.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(orphaned)
	}()
}
