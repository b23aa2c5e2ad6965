"""A small transcript of each JSON export and data set, in its layout."""

REALTALK: dict[str, object] = {
    "name": {"speaker_1": "Ana", "speaker_2": "bo"},
    "session_1_date_time": "29.12.2023, 22:42:04",
    "session_1": [
        {"clean_text": "Hi", "speaker": "Ana", "date_time": "29.12.2023, 22:42:04", "img_file": [], "dia_id": "D1:1"},
        {
            "clean_text": "Look",
            "speaker": "bo",
            "date_time": "29.12.2023, 22:43:10",
            "img_file": ["1.jpg"],
            "blip_caption": "a cup",
            "dia_id": "D1:2",
        },
    ],
    "events_session_1": {"agent_a": []},
    "qa": [{"question": "Who?", "answer": "Bo", "evidence": ["D1:2"], "category": 1}],
}
LONGMEMEVAL: dict[str, object] = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "Which cup?",
    "answer": "the blue one",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["s1", "answer_s2"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
    "haystack_sessions": [
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        [{"role": "user", "content": "I bought the blue cup", "has_answer": True}],
    ],
    "answer_session_ids": ["answer_s2"],
}
BEAM: list[dict[str, object]] = [
    {
        "batch_number": 1,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 0,
                    "time_anchor": "March-05-2024",
                    "index": "1,1",
                    "question_type": "main_question",
                    "content": "I'm building a boat of 7 m, can you help me plan the hull? ->-> 1,1",
                },
                {"role": "assistant", "id": 1, "content": "Gladly."},
            ]
        ],
        "time_anchor": None,
    },
    {
        "batch_number": 2,
        "turns": [[{"role": "user", "id": 2, "time_anchor": "April-10-2024", "content": "It is to be 8 m now."}]],
        "time_anchor": None,
    },
]
CHATGPT: dict[str, object] = {
    "title": "Cups",
    "create_time": 1700000000.5,
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["m1"]},
        "m1": {
            "id": "m1",
            "message": {
                "id": "m1",
                "author": {"role": "user", "name": None, "metadata": {}},
                "create_time": 1700000001.25,
                "content": {"content_type": "text", "parts": ["Which cup?"]},
                "metadata": {},
                "recipient": "all",
            },
            "parent": "root",
            "children": ["m2"],
        },
        "m2": {
            "id": "m2",
            "message": {
                "id": "m2",
                "author": {"role": "assistant", "name": None, "metadata": {}},
                "create_time": 1700000002,
                "content": {"content_type": "text", "parts": ["The blue one."]},
                "metadata": {},
                "recipient": "all",
            },
            "parent": "m1",
            "children": [],
        },
    },
    "current_node": "m2",
    "conversation_id": "c1",
}
CLAUDE: dict[str, object] = {
    "uuid": "c1",
    "name": "Cups",
    "created_at": "2024-03-01T09:00:00.000000Z",
    "updated_at": "2024-03-01T09:00:05.000000Z",
    "account": {"uuid": "a1"},
    "chat_messages": [
        {
            "uuid": "m1",
            "text": "Which cup?",
            "content": [{"type": "text", "text": "Which cup?"}],
            "sender": "human",
            "created_at": "2024-03-01T09:00:01.250000Z",
            "attachments": [{"file_name": "cups.txt", "file_size": 4, "file_type": "txt", "extracted_content": "blue"}],
            "files": [],
            "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
        },
        {
            "uuid": "m2",
            "text": "The blue one.",
            "content": [{"type": "text", "text": "The blue one."}],
            "sender": "assistant",
            "created_at": "2024-03-01T09:00:05.000000Z",
            "attachments": [],
            "files": [{"file_name": "cup.png"}],
            "parent_message_uuid": "m1",
        },
    ],
}
SHAREGPT: dict[str, object] = {
    "id": "c1",
    "conversations": [{"from": "human", "value": "Which cup?"}, {"from": "gpt", "value": "The blue one."}],
}
EXPORTS: dict[str, dict[str, object]] = {
    "realtalk": REALTALK,
    "longmemeval": LONGMEMEVAL,
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "sharegpt": SHAREGPT,
}
