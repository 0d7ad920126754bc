"""How often methods simulate, for results and for prices."""

from adomnia.methods.simulations import count_simulations, simulate_less


def test_results_are_simulated_as_often_as_a_method_says():
    assert count_simulations(500) == 500


def test_prices_are_simulated_less_and_never_less_than_is_enough():
    with simulate_less():
        assert count_simulations(4000) == 500
        assert count_simulations(100) == 60
        assert count_simulations(40) == 40
        assert count_simulations(1000, least=400) == 400
    assert count_simulations(4000) == 4000
