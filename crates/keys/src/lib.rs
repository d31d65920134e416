//! One ring of keys for all replicas of a server.
//!
//! A server seals texts that clients carry: request states, and later session ids and nonces. Every
//! replica must open them. [`Keys`] is the ring that the replicas share. Its keys are in the
//! environment of the process, or in the store, where they are rotated.
//!
//! - [`Keys::new`], [`Keys::from_env`]: keys of the operator.
//! - [`Keys::in_store`]: a ring in the record `system/keys`, with a new key every day.
//! - [`Sealer`]: seals and opens texts of one [`Purpose`]. A text of another purpose does not open.
//! - [`Sealed`]: a store over a store, whose values a reader of the store cannot read.
//!
//! ```
//! use pintle_keys::{Keys, Purpose, RootKey};
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let keys = Keys::new(RootKey::new([7; 32]));
//! let sealer = keys.sealer(Purpose::State);
//! let sealed = sealer.seal(b"tools/call add", b"the first answer")?;
//! assert_eq!(sealer.open(b"tools/call add", &sealed)?, b"the first answer");
//! assert!(sealer.open(b"tools/call remove", &sealed).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # The form of a sealed text
//!
//! | bytes | content |
//! |--:|---|
//! | 1 | the form, 1 |
//! | 4 | the number of the key, a fingerprint |
//! | 24 | random bytes: 16 derive the key of this text, 8 are its nonce |
//! | n | the content, encrypted with ChaCha20-Poly1305 |
//! | 16 | the tag |
//!
//! HKDF-SHA256 derives a key for each purpose, and from it a key for each text. So one root key may
//! seal any number of texts. The tag also covers the form, the number and the associated data of the
//! caller.

mod error;
mod keys;
mod purpose;
mod ring_record;
mod ring_source;
mod root_key;
mod sealed;
mod secret;
mod text;

pub use error::{KeysError, OpenError, SealError};
pub use keys::{Keys, Sealer};
pub use purpose::Purpose;
pub use ring_source::KeyRingOptions;
pub use root_key::RootKey;
pub use sealed::Sealed;
