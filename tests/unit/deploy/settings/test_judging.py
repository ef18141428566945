"""Which model judges, and where its key goes."""

from pathlib import Path

from deploy.settings.evaluation import EvaluationSettings
from deploy.settings.model import ModelSettings, PriceSettings
from deploy.settings.root import IndexSettings, Settings
from deploy.wiring.evaluation import judging
from deploy.wiring.navigation import prices_of

HERE, ELSEWHERE = "https://models.example", "https://judges.example"


def settings(**evaluation: object) -> Settings:
    model = ModelSettings.model_validate(
        {"name": "answerer", "api_key": "secret", "base_url": HERE, "prices": {"input": 1.0, "output": 1.0}}
    )
    judge = EvaluationSettings.model_validate(evaluation)
    return Settings(index=IndexSettings(folder=Path("data")), model=model, evaluation=judge)


def test_the_answering_model_judges_itself_at_its_prices_where_none_is_named() -> None:
    assert judging(settings()) == settings()


def test_another_model_at_the_same_endpoint_has_the_key_and_not_the_prices() -> None:
    found = judging(settings(judge="judge"))
    assert (found.model.name, found.model.base_url) == ("judge", HERE)
    assert found.model.api_key == settings().model.api_key
    assert prices_of(found) is None
    priced = judging(settings(judge="judge", judge_prices=PriceSettings(input=3.0)))
    assert priced.model.prices.input == 3.0


def test_a_key_goes_to_no_other_endpoint() -> None:
    found = judging(settings(judge="judge", judge_base_url=ELSEWHERE))
    assert (found.model.base_url, found.model.api_key) == (ELSEWHERE, None)
    own = judging(settings(judge="judge", judge_base_url=ELSEWHERE, judge_api_key="other"))
    assert own.model.api_key
    assert own.model.api_key.get_secret_value() == "other"


def test_the_same_model_elsewhere_can_judge() -> None:
    assert judging(settings(judge_base_url=ELSEWHERE)).model.name == "answerer"
