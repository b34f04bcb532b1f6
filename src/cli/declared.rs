//! Options that formats and exports declare ([`OptionSpec`]) → arguments of clap, and the text of the user →
//! their values. The only place where the command line knows of them.

use crate::options::{OptionSpec, OptionValues, ValueSpec, Word};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::marker::PhantomData;

/// A list of declared options.
pub trait Registry {
    /// All options of all formats, in the order of the help. Formats may share an option.
    fn specs() -> Vec<&'static OptionSpec>;
}

/// A group of arguments: the given options of a registry.
#[derive(Debug, Clone)]
pub struct Declared<R> {
    /// The values in the user's text.
    pub values: OptionValues,
    registry: PhantomData<R>,
}

impl<R: Registry> Args for Declared<R> {
    fn augment_args(command: Command) -> Command {
        let mut specs = R::specs();
        let mut names = Vec::new();
        specs.retain(|spec| {
            !names.contains(&spec.name) && {
                names.push(spec.name);
                true
            }
        });
        specs.into_iter().fold(command, |command, spec| command.arg(argument(spec)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<R: Registry> FromArgMatches for Declared<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut values = OptionValues::default();
        for spec in R::specs() {
            if matches.value_source(spec.name) != Some(ValueSource::CommandLine) {
                continue;
            }
            match spec.value {
                ValueSpec::Flag => values.set(spec.name, []),
                _ => values.set(spec.name, matches.get_many(spec.name).into_iter().flatten().cloned()),
            }
        }
        Ok(Self { values, registry: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A parser of the words of an enumeration, in the order of the help.
pub fn word<T: Clone + Send + Sync + 'static, const N: usize>(
    words: [&'static str; N],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).try_map(move |word| parse(&word).ok_or("no such word"))
}

fn argument(spec: &'static OptionSpec) -> Arg {
    let arg = Arg::new(spec.name).long(spec.name).help(spec.help);
    let arg = match spec.value {
        ValueSpec::Flag => arg.action(ArgAction::SetTrue),
        ValueSpec::Text(placeholder) => arg.value_name(placeholder),
        ValueSpec::List(placeholder) => {
            arg.value_name(placeholder).action(ArgAction::Append).value_delimiter(',')
        }
        ValueSpec::Choice { placeholder, words, default } => {
            let parser = PossibleValuesParser::new(words.iter().map(possible_value));
            let arg = arg.value_name(placeholder).value_parser(parser);
            default.into_iter().fold(arg, Arg::default_value)
        }
    };
    spec.conflict.into_iter().fold(arg, |arg, other| arg.conflicts_with(other))
}

fn possible_value(word: &'static Word) -> PossibleValue {
    let value = PossibleValue::new(word.name);
    if word.help.is_empty() { value } else { value.help(word.help) }
}
