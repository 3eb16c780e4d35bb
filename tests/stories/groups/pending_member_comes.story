# Nobody but the client that was given it may use an id; a name that was not given is refused.
> settings initial_rebalance_delay_ms=0
> join a
a: member-id-required (a-1)
> join x member=made-up
x: unknown-member (made-up)
> join a
a: joined a-1 gen=1 range leads: a-1
> join y member=made-up
y: unknown-member (made-up)
