"""Before anything heavy starts: can these hosts train together?

Each host looks at itself (`interface`, `channels`), all try the paths between them (`paths`, `doorbell`, `knock`), and,
where asked for or where there is an Elastic Fabric Adapter, throwaway processes try the collectives themselves
(`trial`, `all_reduce`). The leader judges (`director` with `network_verdict` and `trial_verdict`).
"""
