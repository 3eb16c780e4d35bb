// The short script of tests/clients, by sarama.
package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"headrace/clients/script"
)

var codecs = map[string]sarama.CompressionCodec{
	"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	c.Producer.Return.Successes = true
	c.Producer.Partitioner = sarama.NewManualPartitioner
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Enable = false
	return c
}

func produce(bootstrap, topic, codec, name string, count int) {
	c := config()
	c.Producer.Compression = codecs[codec]
	producer, err := sarama.NewSyncProducer([]string{bootstrap}, c)
	script.Must(err)
	defer producer.Close()
	var messages []*sarama.ProducerMessage
	for i := range count {
		messages = append(messages, &sarama.ProducerMessage{
			Topic: topic, Partition: int32(i % script.Partitions), Key: sarama.StringEncoder(script.Key(name, i)),
			Value:   sarama.StringEncoder(script.Value(name, i)),
			Headers: []sarama.RecordHeader{{Key: []byte("codec"), Value: []byte(codec)}},
		})
	}
	script.Must(producer.SendMessages(messages))
}

// member takes `want` records, commits after the last of them and ends its session.
type member struct {
	want chan int
	keys chan string
	stop context.CancelFunc
}

func (m *member) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			session.MarkMessage(message, "")
			m.keys <- string(message.Key)
			left := <-m.want - 1
			m.want <- left
			if left == 0 {
				m.stop()
			}
		case <-session.Context().Done():
			session.Commit()
			return nil
		}
	}
}

func consume(bootstrap, topic, group string, count int, before func()) (keys []string) {
	g, err := sarama.NewConsumerGroup([]string{bootstrap}, group, config())
	script.Must(err)
	before()
	ctx, stop := context.WithTimeout(context.Background(), 40*time.Second)
	m := &member{want: make(chan int, 1), keys: make(chan string, count+100), stop: stop}
	m.want <- count
	for ctx.Err() == nil {
		script.Must(g.Consume(ctx, []string{topic}, m))
	}
	script.Must(g.Close())
	close(m.keys)
	for key := range m.keys {
		keys = append(keys, key)
	}
	return keys
}

func main() {
	bootstrap, topic, group := script.Arguments()
	client, err := sarama.NewClient([]string{bootstrap}, config())
	script.Must(err)
	admin, err := sarama.NewClusterAdminFromClient(client)
	script.Must(err)
	script.Must(admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: script.Partitions, ReplicationFactor: 1}, false))
	report := script.Report{Client: "sarama", Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Offsets: map[string][2]int{}}
	for _, codec := range report.Codecs {
		produce(bootstrap, topic, codec, codec, script.PerCodec)
	}
	total := script.PerCodec * len(report.Codecs)

	consumer, err := sarama.NewConsumerFromClient(client)
	script.Must(err)
	for p := range int32(script.Partitions) {
		part, err := consumer.ConsumePartition(topic, p, sarama.OffsetOldest)
		script.Must(err)
		for range total / script.Partitions {
			m := <-part.Messages()
			report.Consumed = append(report.Consumed, [3]string{string(m.Key), string(m.Value), string(m.Headers[0].Value)})
		}
		script.Must(part.Close())
	}

	report.GroupFirst = len(consume(bootstrap, topic, group, total, func() {}))
	report.Resumed = consume(bootstrap, topic, group, script.After, func() { produce(bootstrap, topic, "none", "after", script.After) })

	for p := range int32(script.Partitions) {
		start, err := client.GetOffset(topic, p, sarama.OffsetOldest)
		script.Must(err)
		end, err := client.GetOffset(topic, p, sarama.OffsetNewest)
		script.Must(err)
		report.Offsets[fmt.Sprint(p)] = [2]int{int(start), int(end)}
	}
	parts, err := client.Partitions(topic)
	script.Must(err)
	report.Partitions = len(parts)
	script.Must(admin.DeleteTopic(topic))
	for !report.Deleted {
		topics, err := admin.ListTopics()
		script.Must(err)
		_, there := topics[topic]
		report.Deleted = !there
	}
	slices.Sort(report.Resumed)
	report.Print()
}
