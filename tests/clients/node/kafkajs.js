// The short script of tests/clients, by kafkajs.
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require('kafkajs')
CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')

const PER_CODEC = 20, AFTER = 4, PARTITIONS = 2
const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy }
const [bootstrap, topic, group] = process.argv.slice(2)
const kafka = new Kafka({ clientId: 'headrace-test', brokers: [bootstrap], logLevel: logLevel.ERROR })

async function produce(codec, name, count) {
  const producer = kafka.producer()
  await producer.connect()
  const messages = []
  for (let i = 0; i < count; i++) {
    messages.push({ partition: i % PARTITIONS, key: `${name}-${i}`, value: `${name} ${i} ` + 'x'.repeat(200), headers: { codec } })
  }
  await producer.send({ topic, messages, acks: -1, compression: codecs[codec] })
  await producer.disconnect()
}

async function consume(groupId, count) {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  const records = []
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`only ${records.length} of ${count} records came`)), 40000).unref()
    consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error))
    consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        records.push(message)
        await consumer.commitOffsets([{ topic, partition, offset: (BigInt(message.offset) + 1n).toString() }])
        if (records.length === count) done()
      },
    })
  })
  await consumer.disconnect()
  return records
}

async function main() {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS, replicationFactor: 1 }], waitForLeaders: true })
  for (const codec of Object.keys(codecs)) await produce(codec, codec, PER_CODEC)
  const first = await consume(group, PER_CODEC * Object.keys(codecs).length)
  await produce('none', 'after', AFTER)
  const resumed = await consume(group, AFTER)
  const offsets = {}
  for (const o of await admin.fetchTopicOffsets(topic)) offsets[o.partition] = [Number(o.low), Number(o.high)]
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  await admin.deleteTopics({ topics: [topic] })
  while ((await admin.listTopics()).includes(topic)) await new Promise((again) => setTimeout(again, 20))
  await admin.disconnect()
  console.log(JSON.stringify({
    client: 'kafkajs', codecs: Object.keys(codecs), partitions: topics[0].partitions.length,
    consumed: first.map((m) => [m.key.toString(), m.value.toString(), m.headers.codec.toString()]),
    offsets, group_first: first.length, resumed: resumed.map((m) => m.key.toString()), deleted: true,
  }))
}

main().catch((error) => { console.error(error); process.exit(1) })
