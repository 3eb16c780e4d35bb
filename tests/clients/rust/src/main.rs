//! The short script of tests/clients, by rskafka (which knows no groups).

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::Utc;
use rskafka::client::partition::{Compression, OffsetAt, UnknownTopicHandling};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;

const PER_CODEC: usize = 20;
const PARTITIONS: i32 = 2;

type Failure = Box<dyn std::error::Error>;

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(bytes))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().collect();
    let (bootstrap, topic) = (&words[1], &words[2]);
    let codecs = [
        ("none", Compression::NoCompression),
        ("gzip", Compression::Gzip),
        ("snappy", Compression::Snappy),
        ("lz4", Compression::Lz4),
        ("zstd", Compression::Zstd),
    ];
    let client = ClientBuilder::new(vec![bootstrap.clone()]).build().await?;
    let controller = client.controller_client()?;
    controller.create_topic(topic, PARTITIONS, 1, 5_000).await?;

    let mut consumed = Vec::new();
    let mut offsets = Vec::new();
    for p in 0..PARTITIONS {
        let partition = client.partition_client(topic.clone(), p, UnknownTopicHandling::Retry).await?;
        for (codec, compression) in codecs {
            let records = (0..PER_CODEC)
                .filter(|i| *i as i32 % PARTITIONS == p)
                .map(|i| Record {
                    key: Some(format!("{codec}-{i}").into_bytes()),
                    value: Some(format!("{codec} {i} {}", "x".repeat(200)).into_bytes()),
                    headers: BTreeMap::from([("codec".to_owned(), codec.as_bytes().to_vec())]),
                    timestamp: Utc::now(),
                })
                .collect();
            partition.produce(records, compression).await?;
        }
        let (start, end) = (partition.get_offset(OffsetAt::Earliest).await?, partition.get_offset(OffsetAt::Latest).await?);
        offsets.push(format!("\"{p}\":[{start},{end}]"));
        let mut next = start;
        while next < end {
            let (records, _) = partition.fetch_records(next, 1..1_000_000, 200).await?;
            for r in records {
                next = r.offset + 1;
                let record = r.record;
                let (key, value) = (record.key.unwrap_or_default(), record.value.unwrap_or_default());
                consumed.push(format!("[{},{},{}]", quoted(&key), quoted(&value), quoted(&record.headers["codec"])));
            }
        }
    }

    let seen = client.list_topics().await?;
    let partitions = seen.iter().find(|t| &t.name == topic).map_or(0, |t| t.partitions.len());
    controller.delete_topic(topic, 5_000).await?;
    while client.list_topics().await?.iter().any(|t| &t.name == topic) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let names: Vec<String> = codecs.iter().map(|(name, _)| quoted(name.as_bytes())).collect();
    println!(
        "{{\"client\":\"rskafka\",\"codecs\":[{}],\"partitions\":{partitions},\"consumed\":[{}],\"offsets\":{{{}}},\"deleted\":true}}",
        names.join(","),
        consumed.join(","),
        offsets.join(","),
    );
    Ok(())
}
