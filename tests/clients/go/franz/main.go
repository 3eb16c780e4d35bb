// The short script of tests/clients, by franz-go.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"headrace/clients/script"
)

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func client(bootstrap string, options ...kgo.Opt) *kgo.Client {
	cl, err := kgo.NewClient(append(options, kgo.SeedBrokers(bootstrap))...)
	script.Must(err)
	return cl
}

func produce(ctx context.Context, bootstrap, topic, codec, name string, count int) {
	cl := client(bootstrap, kgo.ProducerBatchCompression(codecs[codec]), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(5*time.Millisecond))
	defer cl.Close()
	var records []*kgo.Record
	for i := range count {
		records = append(records, &kgo.Record{
			Topic: topic, Partition: int32(i % script.Partitions), Key: []byte(script.Key(name, i)), Value: []byte(script.Value(name, i)),
			Headers: []kgo.RecordHeader{{Key: "codec", Value: []byte(codec)}},
		})
	}
	script.Must(cl.ProduceSync(ctx, records...).FirstErr())
}

func poll(ctx context.Context, cl *kgo.Client, count int) (records []*kgo.Record) {
	for len(records) < count {
		fetches := cl.PollFetches(ctx)
		script.Must(fetches.Err())
		records = append(records, fetches.Records()...)
	}
	return records
}

func main() {
	bootstrap, topic, group := script.Arguments()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	admin := kadm.NewClient(client(bootstrap))
	_, err := admin.CreateTopic(ctx, script.Partitions, 1, nil, topic)
	script.Must(err)
	report := script.Report{Client: "franz-go", Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Offsets: map[string][2]int{}}
	for _, codec := range report.Codecs {
		produce(ctx, bootstrap, topic, codec, codec, script.PerCodec)
	}
	total := script.PerCodec * len(report.Codecs)

	reader := client(bootstrap, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for _, r := range poll(ctx, reader, total) {
		report.Consumed = append(report.Consumed, [3]string{string(r.Key), string(r.Value), string(r.Headers[0].Value)})
	}
	reader.Close()

	for round := range 2 {
		member := client(bootstrap, kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
		if round == 0 {
			records := poll(ctx, member, total)
			report.GroupFirst = len(records)
			script.Must(member.CommitRecords(ctx, records...))
		} else {
			produce(ctx, bootstrap, topic, "none", "after", script.After)
			for _, r := range poll(ctx, member, script.After) {
				report.Resumed = append(report.Resumed, string(r.Key))
			}
		}
		script.Must(member.LeaveGroupContext(ctx))
		member.Close()
	}

	starts, err := admin.ListStartOffsets(ctx, topic)
	script.Must(err)
	ends, err := admin.ListEndOffsets(ctx, topic)
	script.Must(err)
	starts.Each(func(o kadm.ListedOffset) {
		end, _ := ends.Lookup(topic, o.Partition)
		report.Offsets[fmt.Sprint(o.Partition)] = [2]int{int(o.Offset), int(end.Offset)}
	})
	topics, err := admin.ListTopics(ctx, topic)
	script.Must(err)
	report.Partitions = len(topics[topic].Partitions)
	_, err = admin.DeleteTopic(ctx, topic)
	script.Must(err)
	for !report.Deleted {
		topics, err = admin.ListTopics(ctx)
		script.Must(err)
		report.Deleted = !topics.Has(topic)
	}
	report.Print()
}
