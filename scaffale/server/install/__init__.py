"""The installer: what Scaffale puts into the configuration of a client, and how it does no harm there.

`clients` says what each client wants where; `plan` compares that with what is there and makes the new texts, `toml`,
`jsonc` and `blocks` change a text and nothing around the change; `files` puts the texts in place, all or none.
"""
