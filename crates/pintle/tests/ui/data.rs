//! Types that cannot be data.

#![allow(unused)]

use pintle::prelude::*;

#[data]
fn function() {}

#[data]
union Union {
    a: u8,
}

#[data(rename_all = "wild")]
struct UnknownCase {
    a: u8,
}

#[data(new)]
enum NewEnum {
    One,
}

#[data(new)]
struct NewTuple(u8);

fn main() {}
