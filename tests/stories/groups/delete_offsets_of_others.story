# Of groups that are not consumers, nobody can say what the members read.
> settings initial_rebalance_delay_ms=0
> commit - t/0=5
log offset t/0=5
-: committed t/0
> join a old type=connect
a: joined a-1 gen=1 range leads: a-1
> delete-offsets t/0
admin: group-not-empty
> leave a
log stored gen=2 empty
a: left a-1 ok
> delete-offsets t/0
log forgot t/0
admin: deleted t/0
