// The level "store": one indexer of client-go, as an informer has it, and the listers over it.

package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func init() { levels["store"] = runStore }

// storeRun is one run of one scenario.
type storeRun struct {
	trace
	indexer cache.Indexer
	held    []any
}

func runStore(_ *testing.T, s scenario) ([]string, error) {
	indexers, err := initialIndexers(s.setting("indexes", ""))
	if err != nil {
		return nil, err
	}
	run := storeRun{indexer: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers)}
	for _, step := range s.steps {
		run.step(step)
		if err := run.do(step); err != nil {
			return nil, fmt.Errorf("%s: %w", step, err)
		}
	}
	return run.lines, nil
}

// initialIndexers reads "name:function,name:function"; "nil" is a map that does not exist.
func initialIndexers(text string) (cache.Indexers, error) {
	if text == "nil" {
		return nil, nil
	}
	indexers := cache.Indexers{}
	for one := range strings.SplitSeq(text, ",") {
		if one == "" {
			continue
		}
		name, function, _ := strings.Cut(one, ":")
		index, known := indexFunctions[function]
		if !known {
			return nil, fmt.Errorf("no index function %q", function)
		}
		indexers[name] = index
	}
	return indexers, nil
}

// do carries out one step and writes down what it shows.
func (r *storeRun) do(s step) error {
	switch s.verb {
	case "add", "update", "delete", "replace", "transaction", "fill", "bookmark", "resync":
		return r.write(s)
	case "add-index":
		return r.addIndex(s)
	default:
		return r.read(s)
	}
}

// write changes the indexer; whatever came of it, its contents and its version are shown.
func (r *storeRun) write(s step) error {
	change, err := r.change(s)
	if err != nil {
		return err
	}
	if r.panics(func() { err = change() }) {
		r.add("panic")
	} else if err != nil {
		r.add("%s", keyError(err))
	}
	r.showStore()
	return nil
}

// change understands a writing step and gives back what carries it out.
func (r *storeRun) change(s step) (func() error, error) {
	switch s.verb {
	case "bookmark":
		return func() error { r.indexer.Bookmark(unquoted(s.arg(0))); return nil }, nil
	case "resync":
		return r.indexer.Resync, nil
	case "transaction":
		return r.transaction(s)
	case "fill":
		return r.fill(s)
	case "replace":
		list, err := storeObjects(s.args[min(1, len(s.args)):])
		return func() error { return r.indexer.Replace(list, unquoted(s.arg(0))) }, err
	}
	object, err := storeObject(s.arg(0))
	one := map[string]func(any) error{
		"add": r.indexer.Add, "update": r.indexer.Update, "delete": r.indexer.Delete,
	}[s.verb]
	return func() error { return one(object) }, err
}

func (r *storeRun) transaction(s step) (func() error, error) {
	types := map[string]cache.TransactionType{
		"add":    cache.TransactionTypeAdd,
		"update": cache.TransactionTypeUpdate,
		"delete": cache.TransactionTypeDelete,
	}
	var transactions []cache.Transaction
	for pair := range slices.Chunk(s.args, 2) {
		kind, known := types[pair[0]]
		if !known || len(pair) != 2 {
			return nil, fmt.Errorf("what is to be done with an object?")
		}
		object, err := storeObject(pair[1])
		if err != nil {
			return nil, err
		}
		transactions = append(transactions, cache.Transaction{Object: object, Type: kind})
	}
	return func() error { return r.transact(transactions) }, nil
}

// transact hides that a nil *TransactionError is not a nil error.
func (r *storeRun) transact(transactions []cache.Transaction) error {
	if err := r.indexer.(cache.TransactionStore).Transaction(transactions...); err != nil {
		return err
	}
	return nil
}

// fill adds many objects that differ in the number behind their name.
func (r *storeRun) fill(s step) (func() error, error) {
	var count int
	if _, err := fmt.Sscan(s.arg(0), &count); err != nil {
		return nil, err
	}
	var transactions []cache.Transaction
	for number := range count {
		object, err := storeObject(s.arg(1))
		if err != nil {
			return nil, err
		}
		configMap, plain := object.(*v1.ConfigMap)
		if !plain {
			return nil, fmt.Errorf("only objects have a number")
		}
		configMap.Name += fmt.Sprint(number)
		transactions = append(transactions, cache.Transaction{
			Object: configMap, Type: cache.TransactionTypeAdd,
		})
	}
	return func() error { return r.transact(transactions) }, nil
}

func (r *storeRun) addIndex(s step) error {
	function, known := indexFunctions[s.arg(1)]
	if !known {
		return fmt.Errorf("no index function %q", s.arg(1))
	}
	var err error
	if r.panics(func() { err = r.indexer.AddIndexers(cache.Indexers{s.arg(0): function}) }) {
		r.add("panic")
	} else if err != nil {
		r.add("error taken")
	}
	return nil
}

// panics says whether f does. client-go lets go of its lock then.
func (*storeRun) panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func (r *storeRun) showStore() {
	list := r.indexer.List()
	if len(list) > 20 {
		r.add("store of %d", len(list))
	} else {
		r.add("%s", wordsAfter("store", sortedWords(list)))
	}
	version := r.indexer.LastStoreSyncResourceVersion()
	if version == "" {
		version = "none"
	}
	r.add("version %s", version)
}

// keyError says which objects had no key, by their position where there are several.
func keyError(err error) string {
	failed, several := err.(*cache.TransactionError)
	if !several {
		return "error key"
	}
	words := []string{}
	for position := range failed.TotalTransactions {
		if !slices.Contains(failed.SuccessfulIndices, position) {
			words = append(words, fmt.Sprint(position))
		}
	}
	return wordsAfter("error key", words)
}
