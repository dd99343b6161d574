#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The official openai package against a running larderd: streamed and not, errors included.

Exit status: 0 all checks passed, 1 one failed, 77 skipped (no openai package, or no model with --smollm2).
"""
import argparse
import importlib.util
import pathlib
import sys
import tempfile
import threading

from larderd_process import SKIPPED, STORIES, run_checks, running, starter_model, with_chat_template

if importlib.util.find_spec("openai") is None:
    print("skipped: the openai package is not installed for this Python")
    sys.exit(SKIPPED)

import openai  # noqa: E402


MESSAGES = [{"role": "system", "content": "You tell short stories about a red ball and a dog called Spot."},
            {"role": "user", "content": "Once upon a time, there was a little girl called Lily."}]


def chat(client, **more):
    options = {"model": "", "messages": MESSAGES, "max_tokens": 12, "temperature": 0, **more}
    return client.chat.completions.create(**options)


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def lists_its_model(client):
    models = client.models.list().data
    assert len(models) == 1 and models[0].object == "model", models
    assert client.models.retrieve(models[0].id).id == models[0].id
    refused(openai.NotFoundError, lambda: client.models.retrieve("no-such-model"))


def answers_a_chat_whole(client):
    answer = chat(client)
    assert answer.object == "chat.completion" and answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason in ("stop", "length")
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.completion_tokens <= 12
    assert answer.larder["verdict"] and answer.larder["sentence"], answer.larder
    assert answer.larder["reused_tokens"] == answer.usage.prompt_tokens_details.cached_tokens
    assert answer.larder["reused_tokens"] + answer.larder["computed_tokens"] == answer.usage.prompt_tokens


def streams_the_same_text(client):
    whole = chat(client).choices[0]
    text, roles, ends, usage, larder, after_end = "", 0, [], None, None, 0
    for chunk in chat(client, stream=True, stream_options={"include_usage": True}):
        if chunk.usage:
            assert chunk.choices == [], chunk
            usage, larder = chunk.usage, chunk.larder
        for choice in chunk.choices:
            after_end += len(ends) > 0
            roles += choice.delta.role == "assistant"
            text += choice.delta.content or ""
            ends += [choice.finish_reason] if choice.finish_reason else []
    assert text == whole.message.content, (text, whole.message.content)
    assert roles == 1 and ends == [whole.finish_reason] and after_end == 0
    assert usage.prompt_tokens > 0 and larder["verdict"], larder


def streams_without_usage(client):
    last = None
    for chunk in chat(client, stream=True):
        assert chunk.usage is None and len(chunk.choices) == 1
        last = chunk
    assert last.larder["verdict"] and last.choices[0].finish_reason


def reads_with_the_stream_helper(client):
    whole = chat(client, max_tokens=24).choices[0].message.content
    stop = whole[len(whole) // 2:len(whole) // 2 + 4]  # the helper takes an answer cut by its length for an error
    with client.chat.completions.stream(model="", messages=MESSAGES, max_tokens=24, temperature=0,
                                        stop=[stop]) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert "content.delta" in kinds and "chunk" in kinds, kinds
    assert final.choices[0].message.content == whole[:whole.index(stop)]


def reuses_the_second_time(client):
    other = MESSAGES[:1] + [{"role": "user", "content": "Tell me about a big cat that sat on the old mat."}]
    first = chat(client, messages=other)
    second = chat(client, messages=other)
    cached = second.usage.prompt_tokens_details.cached_tokens
    assert 0 < cached < second.usage.prompt_tokens, cached
    assert second.choices[0].message.content == first.choices[0].message.content
    bypassed = chat(client, messages=other, extra_body={"larder": {"cache": "bypass"}})
    assert bypassed.larder["verdict"] == "bypassed", bypassed.larder
    assert bypassed.usage.prompt_tokens_details.cached_tokens == 0
    assert bypassed.choices[0].message.content == first.choices[0].message.content


def gives_n_choices_and_obeys_seeds(client):
    answer = chat(client, n=3, temperature=1.0, seed=42)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    again = chat(client, n=3, temperature=1.0, seed=42)
    assert [c.message.content for c in answer.choices] == [c.message.content for c in again.choices]
    others = {chat(client, temperature=1.0, seed=seed).choices[0].message.content for seed in range(6)}
    assert len(others) > 1, others


def stops_where_told(client):
    whole = chat(client, max_tokens=24).choices[0].message.content
    cut = whole[len(whole) // 2:len(whole) // 2 + 4]
    answer = chat(client, max_tokens=24, stop=[cut]).choices[0]
    assert answer.message.content == whole[:whole.index(cut)] and answer.finish_reason == "stop", (answer, cut)


def gives_logprobs(client):
    answer = chat(client, logprobs=True, top_logprobs=3, max_tokens=4)
    tokens = answer.choices[0].logprobs.content
    assert 0 < len(tokens) <= 4
    for token in tokens:
        assert token.logprob <= 0 and len(token.top_logprobs) == 3
        assert abs(token.top_logprobs[0].logprob - token.logprob) < 1e-6
        assert bytes(token.bytes).decode(errors="replace") == token.token


def completes_text_and_token_ids(client):
    text = client.completions.create(model="", prompt="Once upon a time", max_tokens=8, temperature=0)
    assert text.object == "text_completion" and text.choices[0].text
    streamed = client.completions.create(model="", prompt="Once upon a time", max_tokens=8, temperature=0, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed if chunk.choices) == text.choices[0].text
    echoed = client.completions.create(model="", prompt="Once upon a time", max_tokens=0, temperature=0, echo=True)
    assert echoed.choices[0].text == "Once upon a time" and echoed.choices[0].finish_reason == "length"
    ids = client.completions.create(model="", prompt=[1, 403, 407, 261, 378], max_tokens=4, temperature=0)
    assert ids.usage.prompt_tokens == 5
    scored = client.completions.create(model="", prompt=[403, 407, 261, 378], max_tokens=2, temperature=0, echo=True,
                                       logprobs=2).choices[0]
    assert len(scored.logprobs.tokens) == 6 and "".join(scored.logprobs.tokens) == scored.text, scored
    assert scored.logprobs.token_logprobs[0] is None and all(p <= 0 for p in scored.logprobs.token_logprobs[1:])
    assert all(0 < len(top) <= 2 for top in scored.logprobs.top_logprobs[1:]), scored


def draws_on_past_the_end_when_told(client):
    """A bias makes the end token (2 in both vocabularies) the likeliest one."""
    ended = client.completions.create(model="", prompt="Once", max_tokens=6, temperature=0, logit_bias={"2": 100})
    assert ended.choices[0].finish_reason == "stop" and ended.choices[0].text == "", ended
    more = client.completions.create(model="", prompt="Once", max_tokens=6, temperature=0, logit_bias={"2": 100},
                                     extra_body={"ignore_eos": True})
    assert more.choices[0].finish_reason == "length" and more.usage.completion_tokens == 6, more


def refuses_bad_token_ids(client):
    for ids in ([999999], [1, -1], [1, 2**40]):
        for more in ({}, {"echo": True}, {"echo": True, "logprobs": 1}):
            error = refused(openai.BadRequestError, lambda: client.completions.create(model="", prompt=ids,
                                                                                      max_tokens=1, **more))
            assert error.param.startswith("prompt") and str(ids[-1]) in error.message, error.body
    for bad in ([], [[]], [1.5], ["a", "b"]):
        refused(openai.BadRequestError, lambda: client.completions.create(model="", prompt=bad, max_tokens=1))


def refuses_in_openais_words(client):
    error = refused(openai.BadRequestError, lambda: chat(client, temperature=3))
    assert error.param == "temperature" and error.type == "invalid_request_error", error.body
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]
    error = refused(openai.BadRequestError, lambda: chat(client, messages=image))
    assert "image_url" in error.message and error.code == "unsupported", error.body
    error = refused(openai.BadRequestError, lambda: chat(client, messages=[]))
    assert error.param == "messages", error.body
    refused(openai.NotFoundError, lambda: chat(client, model="no-such-model"))
    tool = {"type": "function", "function": {"name": "lamp_on", "parameters": {"type": "object", "properties": {}}}}
    error = refused(openai.BadRequestError, lambda: chat(client, tools=[tool]))
    assert error.param == "tools" and error.code == "unsupported", error.body
    long = [{"role": "user", "content": "a word and another, " * 20000}]
    error = refused(openai.BadRequestError, lambda: chat(client, messages=long))
    assert error.code == "context_length_exceeded", error.body
    error = refused(openai.BadRequestError, lambda: chat(client, messages=long, stream=True))
    assert error.code == "context_length_exceeded", error.body
    for key in ("wrong", client.api_key[:-1], client.api_key + "x"):
        stranger = client.with_options(api_key=key)
        refused(openai.AuthenticationError, lambda: stranger.models.list())


def serves_clients_at_once(client):
    expected = chat(client).choices[0].message.content
    wrong = []

    def one():
        try:
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chat(client, stream=True) if chunk.choices)
            if text != expected:
                wrong.append(text)
        except openai.OpenAIError as error:
            wrong.append(error)
    threads = [threading.Thread(target=one) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]


def serves_on_after_streams_are_cut(client):
    for _ in range(8):
        stream = chat(client, stream=True, max_tokens=64)
        next(iter(stream))
        stream.close()
    assert chat(client).choices[0].message.content


CHECKS = [lists_its_model, answers_a_chat_whole, streams_the_same_text, streams_without_usage,
          reads_with_the_stream_helper, reuses_the_second_time, gives_n_choices_and_obeys_seeds, stops_where_told,
          gives_logprobs, completes_text_and_token_ids, draws_on_past_the_end_when_told, refuses_bad_token_ids,
          refuses_in_openais_words, serves_clients_at_once,
          serves_on_after_streams_are_cut]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smollm2", action="store_true", help="use the starter model instead of stories260K")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="larder-model.") as folder:
        if options.smollm2:
            model = starter_model()
            if model is None:
                print("skipped: the starter model is not there (LARDER_SMOLLM2)")
                return SKIPPED
        else:
            model = with_chat_template(STORIES, pathlib.Path(folder) / "stories260K-chat.gguf")
        with running(model) as daemon:
            client = openai.OpenAI(base_url=daemon.url + "/v1", api_key=daemon.key, max_retries=0, timeout=120)
            return run_checks(CHECKS, client)


if __name__ == "__main__":
    sys.exit(main())
