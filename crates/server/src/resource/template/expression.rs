//! The pieces of a template, and the operators' table of RFC 6570.

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text that stands for itself, as it appears in a URI.
    Literal(String),
    /// What stood between braces.
    Expression(Expression),
}

/// An operator and its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) operator: Operator,
    pub(super) variables: Vec<Variable>,
}

/// One variable of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: Box<str>,
    pub(super) modifier: Modifier,
}

/// What follows a variable's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modifier {
    Whole,
    /// Only so many characters.
    Prefix(usize),
    /// Each member of a list by itself.
    Explode,
}

/// What stands before the variables. RFC 6570 closes this set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Matrix,
    Query,
    Continuation,
}

impl Part {
    pub(super) fn as_expression(&self) -> Option<&Expression> {
        match self {
            Self::Expression(expression) => Some(expression),
            Self::Literal(_) => None,
        }
    }
}

impl Expression {
    /// Whether a URI may leave the variable out.
    pub(super) fn may_leave_out(&self, variable: &str) -> bool {
        let is_here = |v: &Variable| &*v.name == variable;
        let Some(found) = self.variables.iter().find(|v| is_here(v)) else {
            return false;
        };
        match self.operator {
            Operator::Query | Operator::Continuation | Operator::Fragment => true,
            Operator::Path | Operator::Label | Operator::Matrix => {
                found.modifier == Modifier::Explode
            }
            Operator::Simple | Operator::Reserved => false,
        }
    }
}

impl Operator {
    pub(super) fn of(character: char) -> Option<Self> {
        match character {
            '+' => Some(Self::Reserved),
            '#' => Some(Self::Fragment),
            '.' => Some(Self::Label),
            '/' => Some(Self::Path),
            ';' => Some(Self::Matrix),
            '?' => Some(Self::Query),
            '&' => Some(Self::Continuation),
            _ => None,
        }
    }

    /// What comes before the first value.
    pub(super) fn first(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved => "",
            Self::Fragment => "#",
            Self::Label => ".",
            Self::Path => "/",
            Self::Matrix => ";",
            Self::Query => "?",
            Self::Continuation => "&",
        }
    }

    /// What comes between two values.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ",",
            Self::Label => ".",
            Self::Path => "/",
            Self::Matrix => ";",
            Self::Query | Self::Continuation => "&",
        }
    }

    /// Whether values are written as `name=value`.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Matrix | Self::Query | Self::Continuation)
    }

    /// What follows the name of an empty value.
    pub(super) fn if_empty(self) -> &'static str {
        match self {
            Self::Query | Self::Continuation => "=",
            _ => "",
        }
    }

    /// Whether reserved characters stay as they are.
    pub(super) fn keeps_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}
