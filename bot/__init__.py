"""The chat service round the memory engine.

Read from the top; a package imports only from lines below its own:

    cli              the commands of `kith`
    app              the composition root: opens every part
    console          the conversation of who sits at this machine
    commands         what people can tell the bot to do
    service          root tasks, supervision, control socket, status, doctor, logs
    jobs             the scheduler and what it runs
    delivery         inbox, lanes, outbox, sender
    access           who may speak, and in which conversation
    tools            what the model may call
    turn             one answer: prompt, model, tool calls, clean reply
    config           what an operator can set
    texts            what people read, in two languages
    ports, errors

Adapters hand messages in through `bot.ports`; the bot enters memory by `memory.engine` and the
objects that it hands on. `pyproject.toml` holds these layers as a contract.
"""
