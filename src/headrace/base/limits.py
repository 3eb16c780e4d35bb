"""Everything that can grow has its bound here, with the arithmetic behind the number."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB

# One request. Kafka's `socket.request.max.bytes`: 100 MiB.
FRAME_SIZE_MAX = 100 * MIB
# A frame must have arrived whole this long after its first byte.
FRAME_WAIT_MS_MAX = 60_000
# Requests of one connection that wait for a flush at once. librdkafka keeps up to 1,000,000 in flight when
# asked to; beyond this number we stop reading and TCP does the rest.
CONNECTION_REQUESTS_MAX = 128
# Unsent answers of one connection before we stop reading from it.
CONNECTION_ANSWER_BYTES_MAX = 8 * MIB
# Unanswered requests of one connection before we stop reading from it, counted by what they take as objects (16 times
# their bytes, a Produce once).
CONNECTION_REQUEST_BYTES_MAX = 16 * MIB
# While the node's budget is spent, a connection that is owed more than this gets its answers before it is read from.
CONNECTION_SHARE_BYTES = 64 * KIB
# And one that holds memory while nothing moves is closed after this time instead of FRAME_WAIT_MS_MAX.
BUDGET_SPENT_WAIT_MS_MAX = 10_000
# A connection that broke the protocol gets the answers that are due, for so long.
GOODBYE_WAIT_MS_MAX = 10_000
# Unfinished requests and unsent answers of the whole node.
NODE_REQUEST_BYTES_MAX = 512 * MIB
CONNECTIONS_MAX = 20_000

# Elements of all arrays of one message together. The codec also holds each array's length against the bytes that
# are left. An element takes 60 to 200 bytes of memory once it is read, so this is up to 200 MB, twice a frame.
ARRAY_LENGTH_MAX = 1_000_000
# The same for a request: it is read in one turn of the loop, at 1.2 us an element. Twice PARTITIONS_PER_CLUSTER_MAX, so
# that everything there is can be asked for at once: 40 MB, 0.25 s.
REQUEST_ARRAY_LENGTH_MAX = 200_000
# Depth of nested structures in any message: the deepest of Kafka's has 6.
NESTING_MAX = 16
TAGGED_FIELDS_MAX = 1_000

# An inflated batch. Kafka has no bound; the widest real ratio seen (zstd over zeros) is about 5,000.
INFLATED_SIZE_MAX = 256 * MIB
# Batches that are inflated in threads at once, each up to the bound above. More would not be faster (the walk of the records
# holds the interpreter), and they take threads that flushes wait for.
SLOW_LOOKS_MAX = 2
# `max.message.bytes`, as Kafka's default: 1 MiB and the batch overhead of 12.
BATCH_SIZE_MAX_DEFAULT = MIB + 12
RECORD_LABELS_MAX = 10_000

FETCH_SIZE_MAX = 64 * MIB
FETCH_SESSIONS_MAX = 1_000
# Partitions of all sessions together; one takes about 300 bytes: 150 MB. Beyond it clients fetch without a session.
FETCH_SESSION_PARTITIONS_MAX = 500_000
# A long poll is answered after this time, whatever it asked for: clients give up on a request sooner.
FETCH_WAIT_MS_MAX = 60_000
PARTITIONS_PER_TOPIC_MAX = 10_000
TOPIC_NAME_LENGTH_MAX = 249
# A legacy Kafka string has an int16 length, in requests as in the records of `__consumer_offsets`.
GROUP_ID_LENGTH_MAX = 32 * KIB - 1
GROUP_MEMBERS_MAX = 10_000
GROUP_MEMBER_METADATA_MAX = MIB
# One record with all members of a group, their metadata and their plan: 2,000 members of 30 kB.
GROUP_STORED_SIZE_MAX = 60 * MIB
# Of one coordinator partition. An empty group in memory is about 2 kB: with the usual 16 partitions 640 MB at the very most.
GROUPS_MAX = 20_000
COMMIT_METADATA_LENGTH_MAX = 4096
# A retention asked for with a commit (versions before 5): 100 years.
COMMIT_RETENTION_MS_MAX = 100 * 365 * 86_400_000
# Of a client or instance id, so many characters go into the id of its member. Kafka's own bound for instance ids.
MEMBER_NAME_LENGTH_MAX = 249

# Descriptors the file layer keeps open; segments beyond it are opened again when they are used.
OPEN_FILES_MAX = 1_000
PRODUCERS_PER_PARTITION_MAX = 100_000

# The status port serves probes and scrapers, a handful of connections; the bound keeps a scan from costing memory:
# 256 connections x (64 KiB head + 64 KiB body) = 32 MiB at worst.
HTTP_REQUEST_SIZE_MAX = 64 * KIB
HTTP_HEADERS_MAX = 100
HTTP_CONNECTIONS_MAX = 256
HTTP_PIPELINE_MAX = 16
HTTP_REQUEST_WAIT_MS_MAX = 10_000
HTTP_ANSWER_WAIT_MS_MAX = 30_000
HTTP_IDLE_MS_MAX = 75_000

# The cluster store. etcd takes up to 128 operations in one transaction and 1.5 MiB in one request; every store
# keeps these bounds, so that what works on one machine works on many.
STORE_OPERATIONS_MAX = 128
STORE_VALUE_SIZE_MAX = MIB
# Changes kept for watchers that come back. One change of a partition is about 300 bytes: 3 MB.
STORE_HISTORY_MAX = 10_000
# Changes that wait for one slow watcher; beyond it the watcher starts again from a fresh range.
STORE_WATCH_BACKLOG_MAX = 10_000
# Partitions of a whole cluster: each costs every node about 2 kB of image, settings and log objects, 200 MB in all.
PARTITIONS_PER_CLUSTER_MAX = 100_000
