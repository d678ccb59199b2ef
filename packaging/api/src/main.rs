//! Prints the public items of a crate, one a line, from the JSON that rustdoc wrote:
//! `bloomline-api target/doc/bloomline.json`. Implementations that the compiler or a blanket
//! implementation gives to all types are left out.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let json = std::env::args_os().nth(1).ok_or("usage: bloomline-api FILE.json")?;
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    for item in api.items() {
        println!("{item}");
    }
    Ok(())
}
