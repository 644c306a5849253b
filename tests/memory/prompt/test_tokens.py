from memory.prompt.tokens import TokenMeter


def test_a_meter_moves_towards_what_the_model_counts():
    meter = TokenMeter()
    before = meter.count("我的貓叫麻糬。" * 30)

    for _ in range(20):
        estimated = meter.count("我的貓叫麻糬。" * 30)
        meter.learn(estimated_tokens=estimated, reported_tokens=int(before * 1.5))

    assert abs(meter.count("我的貓叫麻糬。" * 30) - before * 1.5) < before * 0.1


def test_a_wild_report_cannot_break_the_meter():
    meter = TokenMeter()

    for _ in range(50):
        meter.learn(estimated_tokens=100, reported_tokens=100_000)

    assert meter.ratio <= 2.0


def test_a_count_without_the_cached_prefix_teaches_nothing():
    meter = TokenMeter()

    meter.learn(estimated_tokens=1000, reported_tokens=1)
    meter.learn(estimated_tokens=1000, reported_tokens=None)

    assert meter.ratio == 1.0
