"""ApiVersions, and the APIs that a single node without security answers with little: quotas, ACLs, SASL, elections."""

from headrace.protocols.kafka.messages import (
    alter_client_quotas,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    alter_user_scram_credentials,
    api_versions,
    create_acls,
    delete_acls,
    describe_acls,
    describe_client_quotas,
    describe_quorum,
    describe_transactions,
    describe_user_scram_credentials,
    elect_leaders,
    list_partition_reassignments,
    list_transactions,
    sasl_authenticate,
    sasl_handshake,
    update_features,
)
from headrace.protocols.kafka.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityDataRequest,
    EntryDataRequest,
    OpData,
)
from headrace.protocols.kafka.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from headrace.protocols.kafka.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from headrace.protocols.kafka.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from headrace.protocols.kafka.messages.api_versions import ApiVersionsRequest
from headrace.protocols.kafka.messages.create_acls import AclCreation, CreateAclsRequest
from headrace.protocols.kafka.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from headrace.protocols.kafka.messages.describe_acls import DescribeAclsRequest
from headrace.protocols.kafka.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from headrace.protocols.kafka.messages.describe_quorum import DescribeQuorumRequest
from headrace.protocols.kafka.messages.describe_quorum import PartitionDataRequest as QuorumPartition
from headrace.protocols.kafka.messages.describe_quorum import TopicDataRequest as QuorumTopic
from headrace.protocols.kafka.messages.describe_transactions import DescribeTransactionsRequest
from headrace.protocols.kafka.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from headrace.protocols.kafka.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from headrace.protocols.kafka.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from headrace.protocols.kafka.messages.list_transactions import ListTransactionsRequest
from headrace.protocols.kafka.messages.sasl_authenticate import SaslAuthenticateRequest
from headrace.protocols.kafka.messages.sasl_handshake import SaslHandshakeRequest
from headrace.protocols.kafka.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.differential.session import Session, scenario


@scenario(api_versions)
def versions(s: Session) -> None:
    if s.version >= 3:
        s.ask(ApiVersionsRequest("client", "1.0"), "plain")
        s.ask(ApiVersionsRequest("", ""), "no name")
        s.ask(ApiVersionsRequest("bad name!", "1.0"), "bad name")
    else:
        s.ask(ApiVersionsRequest(), "plain")


@scenario(elect_leaders)
def elections(s: Session) -> None:
    name = s.topic()
    for kind in (0, 1) if s.version >= 1 else (0,):
        s.ask(ElectLeadersRequest(kind, [TopicPartitions(name, [0])], 1000), f"kind {kind}, not needed")
        s.ask(ElectLeadersRequest(kind, [TopicPartitions(name, [7])], 1000), f"kind {kind}, unknown partition")
        s.ask(ElectLeadersRequest(kind, [TopicPartitions(s.name + "-never", [0])], 1000), f"kind {kind}, unknown topic")
        s.ask(ElectLeadersRequest(kind, [], 1000), f"kind {kind}, none")
        s.ask(ElectLeadersRequest(kind, [TopicPartitions(name, [0, 7])], 1000), f"kind {kind}, one good, one bad")
    if s.version >= 1:
        s.ask(ElectLeadersRequest(9, [TopicPartitions(name, [0])], 1000), "no such kind")


@scenario(list_partition_reassignments)
def reassignments(s: Session) -> None:
    name = s.topic()
    s.ask(ListPartitionReassignmentsRequest(1000, None), "all")
    s.ask(ListPartitionReassignmentsRequest(1000, [ListPartitionReassignmentsTopics(name, [0])]), "one")
    s.ask(ListPartitionReassignmentsRequest(1000, [ListPartitionReassignmentsTopics(s.name + "-never", [0])]), "unknown topic")


@scenario(alter_partition_reassignments)
def moved(s: Session) -> None:
    name = s.topic()

    def ask(label: str, topic: str, index: int, replicas: list[int] | None) -> None:
        asked = [ReassignableTopic(topic, [ReassignablePartition(index, replicas)])]
        s.ask(AlterPartitionReassignmentsRequest(1000, topics=asked), label)

    ask("stays", name, 0, [s.node_id])
    ask("cancelled", name, 0, None)
    ask("to an unknown node", name, 0, [77])
    ask("to nobody", name, 0, [])
    ask("twice to a node", name, 0, [s.node_id, s.node_id])
    ask("unknown partition", name, 5, [s.node_id])
    ask("unknown topic", s.name + "-never", 0, [s.node_id])
    s.ask(AlterPartitionReassignmentsRequest(1000, topics=[]), "none")


@scenario(alter_replica_log_dirs)
def folders_changed(s: Session) -> None:
    name = s.topic()
    s.ask(
        AlterReplicaLogDirsRequest([AlterReplicaLogDir("/no/such/folder", [AlterReplicaLogDirTopic(name, [0])])]), "unknown folder"
    )
    s.ask(AlterReplicaLogDirsRequest([]), "none")


@scenario(describe_quorum)
def quorum(s: Session) -> None:
    s.ask(DescribeQuorumRequest([QuorumTopic("__cluster_metadata", [QuorumPartition(0)])]), "right")
    s.ask(DescribeQuorumRequest([QuorumTopic("other", [QuorumPartition(0)])]), "other topic")


@scenario(list_transactions)
def transactions(s: Session) -> None:
    s.ask(ListTransactionsRequest(), "all")
    s.ask(ListTransactionsRequest(["Nonsense"]), "unknown state")


@scenario(describe_transactions)
def transactions_described(s: Session) -> None:
    s.ask(DescribeTransactionsRequest([s.name]), "unknown")
    s.ask(DescribeTransactionsRequest([]), "none")


@scenario(describe_client_quotas)
def quotas(s: Session) -> None:
    s.ask(DescribeClientQuotasRequest([ComponentData("user", 0, "someone")], False), "one user")
    s.ask(DescribeClientQuotasRequest([], False), "all")


@scenario(alter_client_quotas)
def quotas_set(s: Session) -> None:
    def ask(label: str, kind: str, key: str) -> None:
        entry = EntryDataRequest([EntityDataRequest(kind, s.name)], [OpData(key, 1000.0)])
        s.ask(AlterClientQuotasRequest([entry], validate_only=True), label)

    ask("a producer's", "user", "producer_byte_rate")
    ask("no such key", "user", "no.such.key")
    ask("no such kind", "planet", "producer_byte_rate")
    s.ask(AlterClientQuotasRequest([], validate_only=True), "none")


@scenario(alter_user_scram_credentials)
def credentials_deleted(s: Session) -> None:
    s.ask(AlterUserScramCredentialsRequest([ScramCredentialDeletion(s.name, 1)]), "unknown user")
    s.ask(AlterUserScramCredentialsRequest([ScramCredentialDeletion(s.name, 9)]), "unknown mechanism")
    s.ask(AlterUserScramCredentialsRequest([ScramCredentialDeletion("", 1)]), "empty name")
    s.ask(AlterUserScramCredentialsRequest(), "nothing")


@scenario(update_features)
def features(s: Session) -> None:
    s.ask(UpdateFeaturesRequest(1000, [FeatureUpdateKey("no.such.feature", 1)]), "unknown")
    s.ask(UpdateFeaturesRequest(1000, [FeatureUpdateKey("metadata.version", 9999)]), "a level that does not exist")
    s.ask(UpdateFeaturesRequest(1000, []), "none")


@scenario(describe_user_scram_credentials)
def credentials(s: Session) -> None:
    s.ask(DescribeUserScramCredentialsRequest(None), "all")
    s.ask(DescribeUserScramCredentialsRequest([UserName("someone")]), "one user")


@scenario(describe_acls)
def acls(s: Session) -> None:
    s.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1), "all")


@scenario(create_acls)
def acls_made(s: Session) -> None:
    s.ask(CreateAclsRequest([AclCreation(2, "t", 3, "User:a", "*", 3, 3)]), "one")


@scenario(delete_acls)
def acls_deleted(s: Session) -> None:
    s.ask(DeleteAclsRequest([DeleteAclsFilter(2, "t", 3, "User:a", "*", 3, 3)]), "one")


@scenario(sasl_handshake)
def sasl(s: Session) -> None:
    s.ask(SaslHandshakeRequest("PLAIN"), "without SASL on this port")


@scenario(sasl_authenticate)
def sasl_data(s: Session) -> None:
    s.ask(SaslAuthenticateRequest(b"\0a\0b"), "without SASL on this port")
