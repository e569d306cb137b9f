//! Serves a sandbox until it is interrupted: `cargo run -p skyl-sandbox --example serve`.

use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = skyl_sandbox::Sandbox::builder().start().await?;
    #[expect(clippy::print_stdout, reason = "the one thing this example says")]
    {
        println!("{}", sandbox.url());
    }
    std::future::pending::<()>().await;
    Ok(())
}
