"""The chat service round the memory engine.

A map of its rooms:

    the roof         __main__ · cli/ (one file a family of verbs) · app (builds every part) ·
                     model_choice · platforms · toolshed
    who may speak    access · access_settings · doorkeeper · sessions
    delivery         intake · inbox · answers · outbox · sender · delivery · positions · amending
    a turn           router (lanes) · turns · talking · replies · leaks · taiwan_reply · tools/
    commands         commands/ (one table for every door) · words · summary_words · excerpts
    by itself        scheduler · cron · jobs · job_log · afterwards
    the service      service · supervisor · control · *_verbs · status_board · doctor · checkup ·
                     systemd_notify
    the footing      config · platform_settings · delivery_settings · datadir · logs · audit ·
                     ports · errors

Adapters hand messages in through `bot.ports`; the bot enters memory by `memory.engine` and the few
doors that it hands on.
"""
