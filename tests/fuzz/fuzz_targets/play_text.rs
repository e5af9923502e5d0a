#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    gipf_fuzz::play_text(text);
});
