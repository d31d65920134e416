//! Functions whose parameters are not the variables of their URI.

#![allow(unused)]

use pintle::resource;

#[resource(mime = "text/plain")]
async fn no_uri() -> String {
    String::new()
}

#[resource("docs://{slug")]
async fn no_template(slug: String) -> String {
    slug
}

#[resource("docs://{slug}")]
async fn no_variable(slug: String, page: u32) -> String {
    slug
}

#[resource("config://app")]
async fn no_variables(slug: String) -> String {
    slug
}

#[resource("docs://{slug}{?page}")]
async fn no_parameter(slug: String) -> String {
    slug
}

#[resource("docs://{slug}", complete(page = pages))]
async fn nothing_to_complete(slug: String) -> String {
    slug
}

#[resource("docs://{slug}", mimetype = "text/plain")]
async fn unknown(slug: String) -> String {
    slug
}

fn main() {}
