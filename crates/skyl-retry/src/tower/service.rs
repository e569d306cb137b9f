//! The service: one driver run per call.

use std::fmt;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tower_service::Service;

use crate::clock::Clock;
use crate::decide::Verdict;
use crate::driver::{Attempt, Stopped, retry};
use crate::failure::{Failure, FailureClass};
use crate::tower::error::BoxError;
use crate::tower::{RetryError, Shared};

/// A service whose calls are retried; made by [`RetryLayer`](crate::RetryLayer).
///
/// - The last response comes back as it is, a failed one included. The last error comes back inside
///   [`RetryError`], which says why there was no further attempt; so does a call that was cut by its
///   total timeout.
/// - It is ready when the service below is. The first attempt uses that readiness; each retry
///   takes a clone and waits until that one is ready, within the deadline.
/// - A failed response is dropped as soon as its retry is decided, so that it holds no connection
///   during the wait.
/// - Dropping the future of a call cancels it, in mid-attempt and in mid-wait.
pub struct RetryService<S, C, F> {
    inner: S,
    shared: Arc<Shared<C, F>>,
}

impl<S, C, F> RetryService<S, C, F> {
    pub(super) fn new(inner: S, shared: Arc<Shared<C, F>>) -> Self {
        Self { inner, shared }
    }

    /// The service below.
    #[must_use]
    pub fn get_ref(&self) -> &S {
        &self.inner
    }
}

/// Whatever clock and closure are: they are shared.
impl<S: Clone, C, F> Clone for RetryService<S, C, F> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<S: fmt::Debug, C: fmt::Debug, F> fmt::Debug for RetryService<S, C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryService")
            .field("inner", &self.inner)
            .field("shared", &self.shared)
            .finish()
    }
}

impl<S, C, F, Req> Service<Req> for RetryService<S, C, F>
where
    S: Service<Req> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Send,
    S::Error: Into<BoxError> + Send,
    C: Clock + Send + Sync + 'static,
    C::Sleep: Send,
    F: Fn(Result<&S::Response, &S::Error>) -> Option<Failure> + Send + Sync + 'static,
    Req: Clone + Send + 'static,
{
    type Response = S::Response;
    type Error = RetryError;
    // One allocation per call; the future of an `async` block has no name to write here.
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(RetryError::unready)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        // The readiness belongs to the value that was polled; its clone has to earn its own.
        let unready = self.inner.clone();
        let ready = mem::replace(&mut self.inner, unready);
        let shared = Arc::clone(&self.shared);
        Box::pin(call(ready, request, shared))
    }
}

/// One call: the driver, with what the layer set.
async fn call<S, C, F, Req>(
    mut service: S,
    request: Req,
    shared: Arc<Shared<C, F>>,
) -> Result<S::Response, RetryError>
where
    S: Service<Req> + Clone,
    S::Error: Into<BoxError>,
    C: Clock,
    F: Fn(Result<&S::Response, &S::Error>) -> Option<Failure>,
    Req: Clone,
{
    let shared = &*shared;
    let deadline = shared
        .total_timeout
        .map(|timeout| shared.clock.now().saturating_add(timeout));
    let attempt = move |attempt: Attempt| {
        let request = request.clone();
        // The first attempt is called on the service that was made ready for it.
        let step = match attempt.number {
            0 => Step::Called(service.call(request)),
            _ => Step::Unready(service.clone(), request),
        };
        async move {
            let outcome = step.finish().await;
            match (shared.classify)(outcome.as_ref()) {
                Some(failure) => Err(Failed::new(outcome, failure)),
                None => match outcome {
                    Ok(response) => Ok(response),
                    // An error is never a success that would pay into the retry budget.
                    Err(_) => Err(Failed::new(outcome, Failure::new(FailureClass::Permanent))),
                },
            }
        }
    };
    let ended = retry(&shared.policy, &shared.clock)
        .rng(shared.seeds.next_rng())
        .budget(shared.budget.as_deref())
        .deadline(deadline)
        .attempt_timeout(shared.attempt_timeout)
        .on_decision(|attempt, failed: &Failed<_, _>, verdict| {
            if let Some(tell) = &shared.observer {
                tell(attempt, &failed.failure, verdict);
            }
            failed.decided(verdict);
        })
        .run(attempt, |failed| failed.failure)
        .await;
    ended.or_else(Failed::hand_back)
}

/// An attempt as far as it has come.
enum Step<S, Req, Called> {
    /// On its way.
    Called(Called),
    /// To be sent once the service is ready.
    Unready(S, Req),
}

impl<S: Service<Req>, Req> Step<S, Req, S::Future> {
    async fn finish(self) -> Result<S::Response, S::Error> {
        match self {
            Self::Called(future) => future.await,
            Self::Unready(mut service, request) => {
                poll_fn(|cx| service.poll_ready(cx)).await?;
                service.call(request).await
            }
        }
    }
}

/// What an attempt gave, and how the caller reads it.
struct Failed<Res, E> {
    // A lock for the borrow checker's sake: the driver shows its error by reference, and a call may
    // be polled from many threads, one after the other. It is never waited for.
    outcome: Mutex<Option<Result<Res, E>>>,
    failure: Failure,
}

impl<Res, E> Failed<Res, E> {
    fn new(outcome: Result<Res, E>, failure: Failure) -> Self {
        Self {
            outcome: Mutex::new(Some(outcome)),
            failure,
        }
    }

    /// Lets go of a response that will not be handed back; errors are kept for whoever asks.
    fn decided(&self, verdict: &Verdict) {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if verdict.retry_after().is_some() && matches!(*outcome, Some(Ok(_))) {
            *outcome = None;
        }
    }

    /// The last response as it is, or the last error with the reason.
    fn hand_back(mut stopped: Stopped<Self>) -> Result<Res, RetryError>
    where
        E: Into<BoxError>,
    {
        let last = stopped.last.take().and_then(|failed| {
            let outcome = failed.outcome.into_inner();
            outcome.unwrap_or_else(PoisonError::into_inner)
        });
        match last {
            Some(Ok(response)) => Ok(response),
            Some(Err(error)) => Err(RetryError::new(&stopped, Some(error.into()))),
            // No attempt came to an end, or its response went before a retry that was then cut.
            None => Err(RetryError::new(&stopped, None)),
        }
    }
}
