//! The grammar of label selectors, as apimachinery's `labels.Parse` has it.
//!
//! Requirements are separated by single commas. `in` and `notin` are operators behind a key, and
//! words like any other where a key or a value stands.

use std::{collections::BTreeSet, iter::Peekable};

use crate::{
    label_selector::{Requirement, Test},
    label_syntax::{is_key, is_value},
};

/// Reads all requirements of a selector. The error says what was found and what was expected.
pub(crate) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser(Tokens(text).peekable());
    let mut requirements = Vec::new();
    if parser.0.peek().is_none() {
        return Ok(requirements);
    }
    loop {
        requirements.push(parser.requirement()?);
        match parser.0.next() {
            None => return Ok(requirements),
            Some(Token::Symbol(",")) => {}
            other => return Err(unexpected(other, "',' or 'end of string'")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// One of `=`, `==`, `!`, `!=`, `(`, `)`, `,`, `>`, `<`.
    Symbol(&'a str),
}

/// The rest of the text.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let is_space = |letter| matches!(letter, ' ' | '\t' | '\r' | '\n');
        let is_symbol = |letter| "=!(),><".contains(letter);
        let rest = self.0.trim_start_matches(is_space);
        let first = rest.chars().next()?;
        let length = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if is_symbol(first) {
            1
        } else {
            let end = rest.find(|letter| is_symbol(letter) || is_space(letter));
            end.unwrap_or(rest.len())
        };
        let (token, rest) = rest.split_at(length);
        self.0 = rest;
        Some(match is_symbol(first) {
            true => Token::Symbol(token),
            false => Token::Word(token),
        })
    }
}

struct Parser<'a>(Peekable<Tokens<'a>>);

impl Parser<'_> {
    fn requirement(&mut self) -> Result<Requirement, String> {
        let is_negated = self.0.next_if_eq(&Token::Symbol("!")).is_some();
        let label = match self.0.next() {
            Some(Token::Word(word)) if is_key(word) => word.to_owned(),
            Some(Token::Word(word)) => return Err(format!("{word:?} is no key of a label")),
            other => return Err(unexpected(other, "!, identifier, or 'end of string'")),
        };
        let test = match is_negated {
            true => Test::Missing,
            false => self.test()?,
        };
        Ok(Requirement { label, test })
    }

    /// What stands behind a key.
    fn test(&mut self) -> Result<Test, String> {
        if self.ends_requirement() {
            return Ok(Test::Exists);
        }
        Ok(match self.0.next() {
            Some(Token::Word("in")) => Test::In(self.values()?),
            Some(Token::Word("notin")) => Test::NotIn(self.values()?),
            Some(Token::Symbol("=" | "==")) => Test::In(BTreeSet::from([self.value()?])),
            Some(Token::Symbol("!=")) => Test::NotIn(BTreeSet::from([self.value()?])),
            Some(Token::Symbol(">")) => Test::Greater(self.integer()?),
            Some(Token::Symbol("<")) => Test::Less(self.integer()?),
            other => return Err(unexpected(other, "in, notin, =, ==, !=, >, <")),
        })
    }

    fn ends_requirement(&mut self) -> bool {
        matches!(self.0.peek(), None | Some(Token::Symbol(",")))
    }

    /// One value; an empty one if the requirement ends here.
    fn value(&mut self) -> Result<String, String> {
        if self.ends_requirement() {
            return Ok(String::new());
        }
        match self.0.next() {
            Some(Token::Word(word)) => checked_value(word),
            other => Err(unexpected(other, "identifier")),
        }
    }

    fn integer(&mut self) -> Result<i64, String> {
        let value = self.value()?;
        value
            .parse()
            .map_err(|_| format!("{value:?} is no integer, which > and < compare with"))
    }

    /// Values in parentheses, each of which may be empty.
    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        match self.0.next() {
            Some(Token::Symbol("(")) => {}
            other => return Err(unexpected(other, "'('")),
        }
        let mut values = BTreeSet::new();
        loop {
            let value = match self.0.next_if(|token| matches!(token, Token::Word(_))) {
                Some(Token::Word(word)) => checked_value(word)?,
                _ => String::new(),
            };
            values.insert(value);
            match self.0.next() {
                Some(Token::Symbol(",")) => {}
                Some(Token::Symbol(")")) => return Ok(values),
                other => return Err(unexpected(other, "',' or ')'")),
            }
        }
    }
}

fn checked_value(word: &str) -> Result<String, String> {
    match is_value(word) {
        true => Ok(word.to_owned()),
        false => Err(format!("{word:?} is no value of a label")),
    }
}

fn unexpected(token: Option<Token<'_>>, expected: &str) -> String {
    let found = match token {
        Some(Token::Word(text) | Token::Symbol(text)) => text,
        None => "",
    };
    format!("found '{found}', expected: {expected}")
}
