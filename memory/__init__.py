"""The memory engine: what a reply sees, what is kept, what is deleted.

Read from the top; a package imports only from lines below its own:

    engine           the one object that the service talks to
    keeping          reset, deletion, edits, compaction, repair
    modes            full, window and pools: which tiers a session uses, and the work after a turn
    transfer         export and import
    recall           finding messages again          ┐
    summary          the rolling summary             │ the tiers; each holds its table,
    pools            facts, short and long           │ its background pass and its part
    tool_errors      what went wrong with tools      ┘ of the prompt, and knows no other
    archive          every message, as it was said
    database         the SQLite file
    prompt           the records that the model reads, within its budget
    language         languages and text, without any model
    settings, ports, values, errors

`pyproject.toml` holds these layers as a contract. Nothing here knows a chat platform, a model
server or a configuration file.
"""
