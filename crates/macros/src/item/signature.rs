//! The signature of a function.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Generics, Lifetime, LitStr, Result, ReturnType, Token, Type, parenthesized, token,
};

/// The name, the parameters and the result of a function.
#[derive(Clone)]
pub(crate) struct Signature {
    /// The words before `fn`.
    words: TokenStream,
    pub(crate) is_async: bool,
    fn_token: Token![fn],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    paren: token::Paren,
    pub(crate) inputs: Punctuated<Input, Token![,]>,
    pub(crate) output: ReturnType,
}

impl Signature {
    /// Returns the receiver.
    pub(crate) fn receiver(&self) -> Option<&Receiver> {
        match self.inputs.first()? {
            Input::Receiver(receiver) => Some(receiver),
            Input::Typed(_) => None,
        }
    }
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (mut words, mut is_async) = (TokenStream::new(), false);
        while !input.peek(Token![fn]) {
            is_async |= input.peek(Token![async]);
            word(input)?.to_tokens(&mut words);
        }
        let (fn_token, ident) = (input.parse()?, input.parse()?);
        let mut generics: Generics = input.parse()?;
        let list;
        let paren = parenthesized!(list in input);
        let inputs = Punctuated::parse_terminated(&list)?;
        let output = input.parse()?;
        generics.where_clause = input.parse()?;
        Ok(Self {
            words,
            is_async,
            fn_token,
            ident,
            generics,
            paren,
            inputs,
            output,
        })
    }
}

/// Reads `const`, `async`, `unsafe`, `safe`, `extern` or the text after `extern`.
fn word(input: ParseStream<'_>) -> Result<TokenTree> {
    if input.peek(LitStr) {
        return input.parse();
    }
    let word = input.call(Ident::parse_any)?;
    let words = ["const", "async", "unsafe", "safe", "extern"];
    match words.iter().any(|known| word == known) {
        true => Ok(word.into()),
        false => Err(syn::Error::new(word.span(), "expected `fn`")),
    }
}

impl ToTokens for Signature {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.words.to_tokens(tokens);
        self.fn_token.to_tokens(tokens);
        self.ident.to_tokens(tokens);
        self.generics.to_tokens(tokens);
        self.paren
            .surround(tokens, |tokens| self.inputs.to_tokens(tokens));
        self.output.to_tokens(tokens);
        self.generics.where_clause.to_tokens(tokens);
    }
}

/// A parameter of a function.
#[derive(Clone)]
pub(crate) enum Input {
    Receiver(Receiver),
    Typed(Box<TypedInput>),
}

/// A form of `self`.
#[derive(Clone)]
pub(crate) struct Receiver {
    tokens: TokenStream,
    pub(crate) kind: ReceiverKind,
}

/// The ways in which a method takes its value.
#[derive(Clone)]
pub(crate) enum ReceiverKind {
    /// The method borrows its value: `&self`.
    Shared,
    /// The type is written: `self: Type`.
    Typed(Box<Type>),
    /// `self` or `&mut self`.
    Other,
}

/// A parameter that is not `self`.
#[derive(Clone)]
pub(crate) struct TypedInput {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) pattern: TokenStream,
    colon: Token![:],
    pub(crate) ty: Type,
}

impl TypedInput {
    /// Returns the name, if the pattern is a name.
    pub(crate) fn name(&self) -> Option<Ident> {
        name_in(self.pattern.clone())
    }
}

fn name_in(pattern: TokenStream) -> Option<Ident> {
    let mut tokens = pattern.into_iter();
    let mut first = tokens.next()?;
    if matches!(&first, TokenTree::Ident(word) if word == "mut") {
        first = tokens.next()?;
    }
    match (first, tokens.next()) {
        (TokenTree::Ident(name), None) if name != "_" => Some(name),
        // A pattern of a macro by example.
        (TokenTree::Group(group), None) if group.delimiter() == Delimiter::None => {
            name_in(group.stream())
        }
        _ => None,
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        if is_receiver(input) {
            return receiver(&attrs, input).map(Self::Receiver);
        }
        Ok(Self::Typed(Box::new(TypedInput {
            attrs,
            pattern: pattern(input)?,
            colon: input.parse()?,
            ty: input.parse()?,
        })))
    }
}

fn is_receiver(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![&]>().is_ok() {
        let _ = ahead.parse::<Option<Lifetime>>();
    }
    let _ = ahead.parse::<Option<Token![mut]>>();
    ahead.peek(Token![self]) && !ahead.peek2(Token![::])
}

fn receiver(attrs: &[Attribute], input: ParseStream<'_>) -> Result<Receiver> {
    let reference: Option<Token![&]> = input.parse()?;
    let lifetime: Option<Lifetime> = match reference {
        Some(_) => input.parse()?,
        None => None,
    };
    let mutability: Option<Token![mut]> = input.parse()?;
    let this: Token![self] = input.parse()?;
    let mut tokens = TokenStream::new();
    tokens.append_all(attrs);
    reference.to_tokens(&mut tokens);
    lifetime.to_tokens(&mut tokens);
    mutability.to_tokens(&mut tokens);
    this.to_tokens(&mut tokens);
    let kind = match input.parse::<Option<Token![:]>>()? {
        Some(colon) => {
            let ty: Box<Type> = Box::new(input.parse()?);
            colon.to_tokens(&mut tokens);
            ty.to_tokens(&mut tokens);
            ReceiverKind::Typed(ty)
        }
        None if reference.is_some() && mutability.is_none() => ReceiverKind::Shared,
        None => ReceiverKind::Other,
    };
    Ok(Receiver { tokens, kind })
}

/// Reads the tokens before a colon.
fn pattern(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.peek(Token![:]) || input.peek(Token![::]) {
        if input.peek(Token![::]) {
            input.parse::<Token![::]>()?.to_tokens(&mut tokens);
        } else {
            input.parse::<TokenTree>()?.to_tokens(&mut tokens);
        }
    }
    match tokens.is_empty() {
        true => Err(input.error("expected a parameter")),
        false => Ok(tokens),
    }
}

impl ToTokens for Receiver {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

impl ToTokens for Input {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Receiver(receiver) => receiver.to_tokens(tokens),
            Self::Typed(typed) => {
                tokens.append_all(&typed.attrs);
                typed.pattern.to_tokens(tokens);
                typed.colon.to_tokens(tokens);
                typed.ty.to_tokens(tokens);
            }
        }
    }
}
