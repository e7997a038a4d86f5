//! Keys of the daemon: made from the system's randomness, kept in files that only their owner may read, written in
//! base64 as WireGuard's tools do.
//!
//! A private key never leaves this module but as a [`Secret`]; every copy on the way is wiped.

use airbraid_engine::converge::session::{Entropy, PublicKey, Secret, public_key};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

/// Length of a key in base64 \[byte\].
const TEXT_LEN: usize = 44;
/// Longest key file: the key, a line's end, some blanks \[byte\].
const FILE_BYTES_MAX: u64 = 256;

/// The randomness of the operating system.
#[derive(Clone, Debug)]
pub struct Random(SystemRandom);

impl Random {
    pub fn new() -> Self {
        Self(SystemRandom::new())
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Entropy for Random {
    /// # Panics
    /// The system has no randomness: nothing that is secret can be made then.
    fn fill(&mut self, bytes: &mut [u8]) {
        assert!(self.0.fill(bytes).is_ok(), "the operating system gives no randomness");
    }
}

/// Makes a private key, in base64.
pub fn generate() -> Zeroizing<String> {
    encode_secret(&Secret::draw(&mut Random::new()))
}

/// A private or shared key in base64.
pub fn encode_secret(secret: &Secret) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(TEXT_LEN));
    STANDARD.encode_string(secret.bytes(), &mut text);
    text
}

/// The public key of a private one, in base64.
///
/// # Errors
/// `private` is no key.
pub fn public_of(private: &str) -> Result<String, String> {
    secret(private).map(|secret| encode(&public_key(&secret)))
}

/// A public key in base64.
pub fn encode(key: &PublicKey) -> String {
    STANDARD.encode(key.0)
}

/// Reads 32 bytes in base64.
fn bytes(text: &str) -> Result<Zeroizing<[u8; 32]>, String> {
    let wrong = || "32 bytes in base64 are needed: 44 characters, the last of them `=`".to_owned();
    let text = text.trim();
    if text.len() != TEXT_LEN {
        return Err(wrong());
    }
    // The decoder estimates by blocks of three and wants room for 33.
    let mut room = Zeroizing::new([0; 33]);
    let length = STANDARD.decode_slice(text, &mut *room).map_err(|_| wrong())?;
    let mut key = Zeroizing::new([0; 32]);
    if length != key.len() {
        return Err(wrong());
    }
    key.copy_from_slice(&room[..32]);
    Ok(key)
}

/// Reads a public key in base64.
///
/// # Errors
/// It is none.
pub fn public(text: &str) -> Result<PublicKey, String> {
    bytes(text).map(|bytes| PublicKey(*bytes))
}

/// Reads a private or shared key in base64.
///
/// # Errors
/// It is none.
pub fn secret(text: &str) -> Result<Secret, String> {
    bytes(text).map(|bytes| Secret::new(*bytes))
}

/// Reads the key in a file that nobody but its owner, who is root or this user, may read.
///
/// # Errors
/// It cannot be read, holds no key, or others may read it: what, and how to mend it.
pub fn read(path: &Path) -> Result<Secret, String> {
    let failed = |error: std::io::Error| {
        // A daemon that runs is confined; the command that checks a file is not.
        let is_refused = error.kind() == std::io::ErrorKind::PermissionDenied;
        let how = if is_refused {
            ": while it runs a daemon reads root's files in the folders that it began with"
        } else {
            ""
        };
        format!("{}: {error}{how}", path.display())
    };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mode = metadata.permissions().mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(format!("others may read {path} (mode {:03o}): chmod 600 {path}", mode & 0o777));
    }
    let owner = metadata.uid();
    if owner != 0 && owner != nix::unistd::geteuid().as_raw() {
        return Err(format!("{} belongs to another user: chown root it", path.display()));
    }
    let mut text = Zeroizing::new(String::with_capacity(FILE_BYTES_MAX as usize));
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    let read = secret(&text).map_err(|why| format!("{} holds no key: {why}", path.display()));
    text.zeroize();
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_public_key_that_others_compute() {
        // RFC 7748, section 6.1, Alice.
        let private = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";
        assert_eq!(public_of(private).unwrap(), "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=");
        assert_eq!(public_of(&format!(" {private}\n")).unwrap(), public_of(private).unwrap());
    }

    #[test]
    fn keys_differ_and_what_is_no_key_is_refused() {
        let key = generate();
        assert_ne!(*key, *generate());
        assert!(secret(&key).is_ok());
        for wrong in ["", "AAAA", &key[1..], &key.replace('=', "A"), &format!("{}*=", &key[..42])] {
            assert!(secret(wrong).unwrap_err().contains("44 characters"), "{wrong}");
        }
    }

    #[test]
    fn a_key_file_that_others_may_read_is_refused() {
        let path = std::env::temp_dir().join(format!("airbraid-key-{}", std::process::id()));
        std::fs::write(&path, generate().as_bytes()).unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        assert!(read(&path).unwrap_err().contains("chmod 600"));
        mode(0o600);
        assert!(read(&path).is_ok());
        std::fs::write(&path, "no key").unwrap();
        assert!(read(&path).unwrap_err().contains("holds no key"));
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path).is_err());
    }
}
