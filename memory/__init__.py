"""The memory engine: what a reply sees, what is kept, what is forgotten.

A map of its rooms:

    the door         engine · modes/{interface,choice,assembly,full,window,pools}
    the prompt       prompt · window · tokens · backdrop · prompts/ · wording
    summary          summary · summary_entries · summary_slot · summary_run · rolling · scribe ·
                     chunks · judge · taiwan · loose_json · passes/summarise
    recall           recall · recalling · question · dates · candidates · ranking · snippets ·
                     lookup · history · search · nearest · index · segments · passes/embed
    pools            facts · likeness · smalltalk · distillate · pool_ranking · pool_slot ·
                     pool_desk · afterwork · passes/{deconstruct,refine,embed_pools}
    tools' memory    error_record · error_ranking · error_recall · tool_run · run_log
    keeping          clearing · resetting · corrections · passes/compaction · exchange/
    the cellar       database · schema/ · stores/ (one owner a table) · database_check · soundness
    the footing      values · errors · text · settings · ports

Imports only go down; `pyproject.toml` holds the floors. Nothing here knows a chat platform, a
model server or a configuration file.
"""
