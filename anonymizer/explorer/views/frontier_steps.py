"""What a point of a frontier is as a change of a study, and what its points depend on."""

import json
from typing import Any

from anonymizer.explorer.answers.series import MODELS, Swept, options_of
from anonymizer.explorer.session import contents
from anonymizer.explorer.session.contents import Content
from anonymizer.recoding.generalization import Generalization


def key_of(content: Content, swept: Swept) -> str:
    """What the points depend on, as text: the study without threshold and recoding."""
    known = {name: each for name, each in content.items() if name not in ("recoding", "search")}
    known["seed"] = content.get("search", {}).get("seed")
    given: dict[str, Any] = {"model": swept.model.name}
    if swept.place is None:
        given |= {"distance": "kl"} if swept.model.name == MODELS[0] else {}
    else:
        place = swept.place
        split = contents.with_threshold(content, place, swept.parameter, 0, swept.attribute)
        place += len(split["privacy"]) - len(known["privacy"])
        given = split["privacy"][place]
        known["privacy"] = [each for number, each in enumerate(split["privacy"]) if number != place]
    left_out = (swept.parameter, "attribute")
    known["swept"] = {name: each for name, each in given.items() if name not in left_out}
    known["about"] = swept.attribute
    return json.dumps(known, sort_keys=True, default=str)


def taken(
    content: Content, swept: Swept, threshold: float, recoding: Generalization | None
) -> Content:
    """A study at a point: with its threshold, and its recoding where that is another one."""
    if swept.place is not None:
        given = (swept.place, swept.parameter, threshold, swept.attribute)
        content = contents.with_threshold(content, *given)
    else:
        about = {"attribute": swept.attribute}
        several = len(contents.attributes_of(content, "sensitive")) > 1
        distance = {"distance": "kl"} if swept.model.name == MODELS[0] else {}
        parameters = {**distance, swept.parameter: threshold, **(about if several else {})}
        content = contents.with_model(content, swept.model.name, parameters)
    if recoding is None:
        return content
    return contents.with_recoding(content, recoding.name, options_of(recoding))
