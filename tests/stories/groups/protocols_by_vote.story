# Only what all support can be chosen; of that, what most prefer.
> settings initial_rebalance_delay_ms=1000
> join a old protocols=range,sticky,rr
> join b old protocols=sticky,range
> join c old protocols=sticky,range,rr
> join d old protocols=rr
d: inconsistent-protocol
> join e old protocols=
e: inconsistent-protocol
> join f old type=connect
f: inconsistent-protocol
> wait 2000
a: joined a-1 gen=1 sticky leads: a-1 b-1 c-1   (at 2000)
b: joined b-1 gen=1 sticky leader=a-1   (at 2000)
c: joined c-1 gen=1 sticky leader=a-1   (at 2000)
