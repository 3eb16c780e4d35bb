# Too much metadata is refused for the partition that carries it.
> settings commit_metadata_length_max=4
> commit - t/0=5 meta=four
log offset t/0=5
-: committed t/0
> commit - t/1=5 t/2=6 meta=fives
-: commit-metadata-too-large t/1
-: commit-metadata-too-large t/2
> fetch
admin: t/0=5
