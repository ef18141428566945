"""Which model judges, and where its key goes."""

from pathlib import Path

from deploy.settings.index import IndexSettings
from deploy.settings.model import EndpointSettings, ModelSettings, PriceSettings
from deploy.settings.root import Settings
from deploy.wiring.navigation import prices_of

HERE, ELSEWHERE = "https://models.example", "https://judges.example"


def settings(**judge: object) -> Settings:
    model = ModelSettings.model_validate(
        {"name": "answerer", "api_key": "secret", "base_url": HERE, "prices": {"input": 1.0, "output": 1.0}}
    )
    return Settings(index=IndexSettings(folder=Path("data")), model=model, judge=EndpointSettings.model_validate(judge))


def test_the_answering_model_judges_itself_at_its_prices_where_none_is_named() -> None:
    assert settings().judging == settings()


def test_another_model_at_the_same_endpoint_has_the_key_and_not_the_prices() -> None:
    found = settings(name="judge").judging
    assert (found.model.name, found.model.base_url) == ("judge", HERE)
    assert found.model.api_key == settings().model.api_key
    assert prices_of(found) is None
    priced = settings(name="judge", prices=PriceSettings(input=3.0)).judging
    assert priced.model.prices.input == 3.0


def test_a_key_goes_to_no_other_endpoint() -> None:
    found = settings(name="judge", base_url=ELSEWHERE).judging
    assert (found.model.base_url, found.model.api_key) == (ELSEWHERE, None)
    own = settings(name="judge", base_url=ELSEWHERE, api_key="other").judging
    assert own.model.api_key
    assert own.model.api_key.get_secret_value() == "other"


def test_the_same_model_elsewhere_can_judge() -> None:
    assert settings(base_url=ELSEWHERE).judging.model.name == "answerer"
