from kit.house_fixtures import own_house, remember_facts, shared_house

__all__ = ["own_house", "remember_facts", "shared_house"]
