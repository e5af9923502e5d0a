//! What is read and written by name: keys, objects, and how streams stand.

use super::super::error::ClusterError;
use super::super::names::RunNames;
use super::{Link, failed, lock};
use async_nats::jetstream::{self, context, kv, object_store};
use std::time::{Duration, SystemTime};
use tokio::io::AsyncReadExt;
use tokio_stream::StreamExt;

/// What is in a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that ever came in.
    pub ever: u64,
    /// The most bytes it may hold.
    pub limit: u64,
    /// How long its oldest message has been in it, by the clocks of server and client; none where it is empty.
    pub oldest: Option<Duration>,
}

impl Link {
    /// The value of a key; none where there is none.
    ///
    /// # Errors
    /// The connection is lost, or the account may not read it.
    pub fn read(&self, bucket: &str, key: &str) -> Result<Option<Vec<u8>>, ClusterError> {
        self.wait(key, async {
            let Some(store) = self.bucket(bucket).await? else { return Ok(None) };
            let value = store.get(key).await.map_err(|error| failed(key, &error))?;
            Ok(value.map(|bytes| bytes.to_vec()))
        })
    }

    /// Writes the value of a key; on return the server has it.
    ///
    /// # Errors
    /// The connection is lost, or the account may not write it.
    pub fn write(&self, bucket: &str, key: &str, value: Vec<u8>) -> Result<(), ClusterError> {
        self.wait(key, async {
            let Some(store) = self.bucket(bucket).await? else {
                return Err(failed(key, &format!("there is no bucket {bucket}")));
            };
            store.put(key, value.into()).await.map(|_| ()).map_err(|error| failed(key, &error))
        })
    }

    /// All keys of a bucket with their values; none where there is no such bucket.
    ///
    /// # Errors
    /// The connection is lost, or the account may not read them.
    pub fn entries(&self, bucket: &str) -> Result<Vec<(String, Vec<u8>)>, ClusterError> {
        self.wait(bucket, async {
            let Some(store) = self.bucket(bucket).await? else { return Ok(Vec::new()) };
            let mut keys = store.keys().await.map_err(|error| failed(bucket, &error))?;
            let mut entries = Vec::new();
            while let Some(key) = keys.next().await {
                let key = key.map_err(|error| failed(bucket, &error))?;
                let value = store.get(&key).await.map_err(|error| failed(bucket, &error))?;
                entries.extend(value.map(|bytes| (key, bytes.to_vec())));
            }
            Ok(entries)
        })
    }

    /// Stores an object.
    ///
    /// # Errors
    /// The connection is lost, or the account may not do this.
    pub fn put_object(&self, store: &str, name: &str, bytes: &[u8]) -> Result<(), ClusterError> {
        self.transfer(name, async {
            let store = self.store(store).await?;
            let mut rest = bytes;
            store.put(name, &mut rest).await.map(|_| ()).map_err(|error| failed(name, &error))
        })
    }

    /// The bytes of an object, up to `limit` of them: one more is an error, whatever the object says of itself.
    ///
    /// # Errors
    /// The connection is lost, there is no such object, or it is too long.
    pub fn get_object(&self, store: &str, name: &str, limit: u64) -> Result<Vec<u8>, ClusterError> {
        self.transfer(name, async {
            let object = self.store(store).await?.get(name).await;
            let object = object.map_err(|error| failed(name, &error))?;
            let mut bytes = Vec::new();
            let read = object.take(limit + 1).read_to_end(&mut bytes).await;
            read.map_err(|error| failed(name, &error))?;
            if bytes.len() as u64 > limit {
                let reason = format!("it is longer than {limit} bytes");
                return Err(ClusterError::Checkpoint { name: name.to_owned(), reason });
            }
            Ok(bytes)
        })
    }

    /// The names of a store's objects.
    ///
    /// # Errors
    /// The connection is lost, or there is no such store.
    pub fn objects(&self, store: &str) -> Result<Vec<String>, ClusterError> {
        self.wait(store, async {
            let found = self.store(store).await?.list().await;
            let mut found = found.map_err(|error| failed(store, &error))?;
            let mut names = Vec::new();
            while let Some(object) = found.next().await {
                names.push(object.map_err(|error| failed(store, &error))?.name);
            }
            Ok(names)
        })
    }

    /// Removes an object.
    ///
    /// # Errors
    /// The connection is lost, or there is no such object.
    pub fn delete_object(&self, store: &str, name: &str) -> Result<(), ClusterError> {
        self.wait(name, async {
            let store = self.store(store).await?;
            store.delete(name).await.map_err(|error| failed(name, &error))
        })
    }

    /// What is in a stream.
    ///
    /// # Errors
    /// The connection is lost, there is no such stream, or the account may not see it.
    pub fn depth(&self, stream: &str) -> Result<Depth, ClusterError> {
        self.wait(stream, async {
            let found = self.context.get_stream(stream).await;
            let info = found.map(|found| found.cached_info().clone());
            let info = info.map_err(|error| failed(stream, &error))?;
            let first = SystemTime::from(info.state.first_timestamp);
            let state = &info.state;
            Ok(Depth {
                messages: state.messages,
                bytes: state.bytes,
                ever: state.last_sequence,
                limit: u64::try_from(info.config.max_bytes).unwrap_or(0),
                oldest: (state.messages > 0)
                    .then(|| SystemTime::now().duration_since(first).unwrap_or_default()),
            })
        })
    }

    /// The names of the runs that the server knows.
    ///
    /// # Errors
    /// The connection is lost, or the account may not list streams.
    pub fn runs(&self) -> Result<Vec<RunNames>, ClusterError> {
        self.wait("listing runs", async {
            let mut streams = self.context.stream_names();
            let mut runs = Vec::new();
            while let Some(name) = streams.next().await {
                let name = name.map_err(|error| failed("listing runs", &error))?;
                runs.extend(RunNames::of_stream(&name));
            }
            runs.sort_by(|a, b| a.run().cmp(b.run()));
            Ok(runs)
        })
    }

    /// A bucket; none where the server has none of that name.
    async fn bucket(&self, name: &str) -> Result<Option<kv::Store>, ClusterError> {
        let known = lock(&self.buckets).get(name).cloned();
        if known.is_some() {
            return Ok(known);
        }
        match self.context.get_key_value(name).await {
            Ok(found) => {
                lock(&self.buckets).insert(name.to_owned(), found.clone());
                Ok(Some(found))
            }
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(failed(name, &error)),
        }
    }

    async fn store(&self, name: &str) -> Result<object_store::ObjectStore, ClusterError> {
        if let Some(known) = lock(&self.stores).get(name).cloned() {
            return Ok(known);
        }
        let found = self.context.get_object_store(name).await;
        let found = found.map_err(|error| failed(name, &error))?;
        lock(&self.stores).insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

/// Whether a bucket could not be found, rather than not be asked for.
fn is_missing(error: &context::KeyValueError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(context::GetStreamErrorKind::JetStream(found)) =
            inner.downcast_ref::<context::GetStreamError>().map(context::GetStreamError::kind)
        {
            return found.error_code() == jetstream::ErrorCode::STREAM_NOT_FOUND;
        }
        cause = inner.source();
    }
    false
}
