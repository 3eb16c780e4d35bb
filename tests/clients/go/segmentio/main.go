// The short script of tests/clients, by kafka-go.
package main

import (
	"context"
	"fmt"
	"time"

	kafka "github.com/segmentio/kafka-go"

	"headrace/clients/script"
)

var codecs = map[string]kafka.Compression{
	"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
}

func produce(ctx context.Context, bootstrap, topic, codec, name string, count int) {
	writer := &kafka.Writer{
		Addr: kafka.TCP(bootstrap), Topic: topic, Compression: codecs[codec], RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond,
		Balancer: kafka.BalancerFunc(func(m kafka.Message, partitions ...int) int { return int(m.WriterData.(int)) % len(partitions) }),
	}
	var messages []kafka.Message
	for i := range count {
		messages = append(messages, kafka.Message{
			Key: []byte(script.Key(name, i)), Value: []byte(script.Value(name, i)), WriterData: i,
			Headers: []kafka.Header{{Key: "codec", Value: []byte(codec)}},
		})
	}
	script.Must(writer.WriteMessages(ctx, messages...))
	script.Must(writer.Close())
}

func main() {
	bootstrap, topic, group := script.Arguments()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	client := &kafka.Client{Addr: kafka.TCP(bootstrap)}
	made, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: script.Partitions, ReplicationFactor: 1}},
	})
	script.Must(err)
	script.Must(made.Errors[topic])
	report := script.Report{Client: "kafka-go", Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Offsets: map[string][2]int{}}
	for _, codec := range report.Codecs {
		produce(ctx, bootstrap, topic, codec, codec, script.PerCodec)
	}
	total := script.PerCodec * len(report.Codecs)

	for p := range script.Partitions {
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, Topic: topic, Partition: p, MaxWait: 100 * time.Millisecond})
		for range total / script.Partitions {
			m, err := reader.ReadMessage(ctx)
			script.Must(err)
			report.Consumed = append(report.Consumed, [3]string{string(m.Key), string(m.Value), string(m.Headers[0].Value)})
		}
		script.Must(reader.Close())
	}

	for round := range 2 {
		count := total
		if round == 1 {
			produce(ctx, bootstrap, topic, "none", "after", script.After)
			count = script.After
		}
		member := kafka.NewReader(kafka.ReaderConfig{
			Brokers: []string{bootstrap}, Topic: topic, GroupID: group, StartOffset: kafka.FirstOffset, MaxWait: 100 * time.Millisecond,
		})
		var messages []kafka.Message
		for len(messages) < count {
			m, err := member.FetchMessage(ctx)
			script.Must(err)
			messages = append(messages, m)
		}
		script.Must(member.CommitMessages(ctx, messages...))
		script.Must(member.Close())
		if round == 0 {
			report.GroupFirst = len(messages)
			continue
		}
		for _, m := range messages {
			report.Resumed = append(report.Resumed, string(m.Key))
		}
	}

	asked := []kafka.OffsetRequest{}
	for p := range script.Partitions {
		asked = append(asked, kafka.FirstOffsetOf(p), kafka.LastOffsetOf(p))
	}
	listed, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	script.Must(err)
	for _, o := range listed.Topics[topic] {
		script.Must(o.Error)
		report.Offsets[fmt.Sprint(o.Partition)] = [2]int{int(o.FirstOffset), int(o.LastOffset)}
	}
	seen, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	script.Must(err)
	report.Partitions = len(seen.Topics[0].Partitions)
	gone, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	script.Must(err)
	script.Must(gone.Errors[topic])
	for !report.Deleted {
		seen, err = client.Metadata(ctx, &kafka.MetadataRequest{})
		script.Must(err)
		report.Deleted = true
		for _, t := range seen.Topics {
			report.Deleted = report.Deleted && t.Name != topic
		}
	}
	report.Print()
}
