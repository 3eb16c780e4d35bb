# What was not stored is gone: the old generation is back, the newcomer has to come again.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> join b old
> join a
a: joined a-1 gen=2 range leads: a-1 b-1
b: joined b-1 gen=2 range leader=a-1
> crash
> describe
admin: Stable range a-1:t0
> heartbeat a
a: illegal-generation
> heartbeat b
b: unknown-member
> heartbeat a gen=1
a: alive
> join a
a: joined a-1 gen=2 range leads: a-1
