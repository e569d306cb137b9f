//! Clients that do the same work for their users.
//!
//! Each is set up as its own documentation shows, with the same request, and asked anew in each
//! call, as skyl is.

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
    CreateChatCompletionRequest,
};
use futures_util::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use tokio::runtime::Runtime;

use crate::client::{Held, KEY, MAX_TOKENS, MODEL, PROMPT, SYSTEM, Texts};
use crate::measure::Contender;
use crate::server::TEXT_BYTES;

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
pub(super) fn completers<'a>(runtime: &'a Runtime, url: &str) -> Vec<Contender<'a>> {
    let genai = genai_client(url);
    let openai = openai_client(url);
    vec![
        Contender::new("genai", move |calls| {
            let (request, options) = (genai_request(), genai_options());
            runtime.block_on(async {
                for _ in 0..calls {
                    let answer = genai
                        .exec_chat(MODEL, request.clone(), Some(&options))
                        .await
                        .expect("an answer");
                    assert_eq!(answer.first_text().map(str::len), Some(TEXT_BYTES));
                }
            });
        }),
        Contender::new("async-openai", move |calls| {
            let request = openai_request();
            runtime.block_on(async {
                for _ in 0..calls {
                    let answer = openai.chat().create(request.clone()).await;
                    let answer = answer.expect("an answer");
                    let text = answer.choices[0].message.content.as_deref();
                    assert_eq!(text.map(str::len), Some(TEXT_BYTES));
                }
            });
        }),
    ]
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
pub(super) fn streamers<'a>(runtime: &'a Runtime, url: &str) -> Vec<Contender<'a>> {
    let genai = genai_client(url);
    let openai = openai_client(url);
    vec![
        Contender::new("genai", move |calls| {
            let (request, options) = (genai_request(), genai_options());
            runtime.block_on(async {
                for _ in 0..calls {
                    let answer = genai
                        .exec_chat_stream(MODEL, request.clone(), Some(&options))
                        .await
                        .expect("a stream");
                    let mut stream = answer.stream;
                    let mut texts = Texts::default();
                    while let Some(event) = stream.next().await {
                        if let ChatStreamEvent::Chunk(chunk) = event.expect("an event") {
                            texts.add(&chunk.content);
                        }
                    }
                    texts.check();
                }
            });
        }),
        Contender::new("async-openai", move |calls| {
            let request = openai_request();
            runtime.block_on(async {
                for _ in 0..calls {
                    let stream = openai.chat().create_stream(request.clone()).await;
                    let mut stream = stream.expect("a stream");
                    let mut texts = Texts::default();
                    while let Some(chunk) = stream.next().await {
                        for choice in chunk.expect("a chunk").choices {
                            texts.add(choice.delta.content.as_deref().unwrap_or_default());
                        }
                    }
                    texts.check();
                }
            });
        }),
    ]
}

pub(super) fn held(url: &str, streams: bool) -> Vec<Held> {
    let genai = genai_client(url);
    let openai = openai_client(url);
    vec![
        Held::new("genai", move || {
            let client = genai.clone();
            async move {
                let (request, options) = (genai_request(), genai_options());
                if streams {
                    let answer = client.exec_chat_stream(MODEL, request, Some(&options));
                    if let Ok(answer) = answer.await {
                        let mut stream = answer.stream;
                        while let Some(Ok(_)) = stream.next().await {}
                    }
                } else {
                    drop(client.exec_chat(MODEL, request, Some(&options)).await);
                }
            }
        }),
        Held::new("async-openai", move || {
            let client = openai.clone();
            async move {
                let request = openai_request();
                if streams {
                    if let Ok(mut stream) = client.chat().create_stream(request).await {
                        while let Some(Ok(_)) = stream.next().await {}
                    }
                } else {
                    drop(client.chat().create(request).await);
                }
            }
        }),
    ]
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a client is no measurement"
)]
fn genai_client(url: &str) -> genai::Client {
    let endpoint = Endpoint::from_owned(format!("{url}/v1/"));
    genai::Client::builder()
        .with_service_target_resolver_fn(
            move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
                Ok(ServiceTarget {
                    endpoint: endpoint.clone(),
                    auth: AuthData::from_single(KEY),
                    model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
                })
            },
        )
        .build()
        .expect("a client")
}

fn genai_request() -> ChatRequest {
    ChatRequest::new(vec![ChatMessage::user(PROMPT)]).with_system(SYSTEM)
}

fn genai_options() -> ChatOptions {
    ChatOptions::default().with_max_tokens(MAX_TOKENS)
}

fn openai_client(url: &str) -> async_openai::Client<OpenAIConfig> {
    let config = OpenAIConfig::new()
        .with_api_key(KEY)
        .with_api_base(format!("{url}/v1"));
    async_openai::Client::with_config(config)
}

fn openai_request() -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: MODEL.to_owned(),
        messages: vec![
            ChatCompletionRequestSystemMessage::from(SYSTEM).into(),
            ChatCompletionRequestUserMessage::from(PROMPT).into(),
        ],
        max_completion_tokens: Some(MAX_TOKENS),
        ..CreateChatCompletionRequest::default()
    }
}
