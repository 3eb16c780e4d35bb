// The short script of tests/clients, by Apache Kafka's own Java client (3.9 and 4.3 run the same source).

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.AppInfoParser;

public class Script {
    static final int PER_CODEC = 20, AFTER = 4, PARTITIONS = 2;
    static String bootstrap, topic, group;

    static String quote(String text) {
        return '"' + text + '"';
    }

    static Properties properties(Object... pairs) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < pairs.length; i += 2) p.put(pairs[i], pairs[i + 1]);
        return p;
    }

    static void produce(String codec, String name, int count) throws Exception {
        try (var producer = new KafkaProducer<>(properties("compression.type", codec, "linger.ms", 5), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                var record = new ProducerRecord<>(topic, i % PARTITIONS, name + "-" + i, name + " " + i + " " + "x".repeat(200));
                record.headers().add("codec", codec.getBytes());
                producer.send(record, (meta, error) -> {
                    if (error != null) throw new RuntimeException(error);
                });
            }
            producer.flush();
        }
    }

    static KafkaConsumer<String, String> consumer(Object... pairs) {
        Properties p = properties(pairs);
        p.put("auto.offset.reset", "earliest");
        p.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
    }

    static List<ConsumerRecord<String, String>> poll(KafkaConsumer<String, String> consumer, int count) {
        var records = new ArrayList<ConsumerRecord<String, String>>();
        long deadline = System.nanoTime() + 40_000_000_000L;
        while (records.size() < count && System.nanoTime() < deadline) consumer.poll(Duration.ofMillis(200)).forEach(records::add);
        return records;
    }

    public static void main(String[] words) throws Exception {
        bootstrap = words[0];
        topic = words[1];
        group = words[2];
        var codecs = List.of("none", "gzip", "snappy", "lz4", "zstd");
        int total = PER_CODEC * codecs.size();
        try (var admin = Admin.create(properties())) {
            admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
            for (String codec : codecs) produce(codec, codec, PER_CODEC);
            var partitions = List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));

            List<ConsumerRecord<String, String>> consumed;
            Map<TopicPartition, Long> starts, ends;
            try (var reader = consumer()) {
                reader.assign(partitions);
                consumed = poll(reader, total);
            }
            int first;
            try (var member = consumer("group.id", group)) {
                member.subscribe(List.of(topic));
                first = poll(member, total).size();
                member.commitSync();
            }
            produce("none", "after", AFTER);
            List<ConsumerRecord<String, String>> resumed;
            try (var member = consumer("group.id", group, "partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor")) {
                member.subscribe(List.of(topic));
                resumed = poll(member, AFTER);
                member.commitSync();
                starts = member.beginningOffsets(partitions);
                ends = member.endOffsets(partitions);
            }
            int seen = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
            admin.deleteTopics(List.of(topic)).all().get();
            while (admin.listTopics().names().get().contains(topic)) Thread.sleep(20);

            var fields = new ArrayList<String>();
            fields.add("\"client\":" + quote("java " + AppInfoParser.getVersion()));
            fields.add("\"codecs\":" + codecs.stream().map(Script::quote).toList());
            fields.add("\"partitions\":" + seen);
            fields.add("\"consumed\":" + consumed.stream()
                .map(r -> List.of(quote(r.key()), quote(r.value()), quote(new String(r.headers().lastHeader("codec").value()))).toString()).toList());
            fields.add("\"offsets\":" + partitions.stream()
                .map(p -> quote("" + p.partition()) + ":[" + starts.get(p) + "," + ends.get(p) + "]").collect(Collectors.joining(",", "{", "}")));
            fields.add("\"group_first\":" + first);
            fields.add("\"resumed\":" + resumed.stream().map(r -> quote(r.key())).toList());
            fields.add("\"deleted\":true");
            System.out.println("{" + String.join(",", fields) + "}");
        }
    }
}
