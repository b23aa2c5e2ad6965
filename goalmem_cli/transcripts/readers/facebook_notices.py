"""Recognises what Facebook and Instagram themselves write into chats, in languages of public exports or programs.

Exports have these sentences in the language of the account. In other languages they stay part of the text.
"""

from __future__ import annotations

import re

from goalmem_cli.languages.patterns import late

# What follows the sender's name, or a word for "you". It replaces a text, beside what was shared or sent.
_SENT = (
    r"sent (?:an attachment|a photo|a video|a link|a voice message|a live location|a sticker|a gif)",
    r"(?:envió|enviaste|ha enviado) un archivo adjunto",
    r"enviou um anexo",
    r"(?:a|avez|as) envoyé (?:une pièce jointe|une photo|une vidéo|un lien)",
    r"(?:hat|hast) einen anhang gesendet",
    r"(?:ha|hai) inviato un allegato",
    r"(?:wysłał(?:a|\(a\))?|przesyła|wysłałeś\(aś\)) (?:załącznik|link)",
    r"bir ek gönderdi",
    r"отправил(?:а|и|\(-а\))? вложение",
    r"đã gửi một file đính kèm",
    r"ได้ส่งไฟล์แนบ",
)
_YOU = frozenset({"", "you", "te", "tú", "você", "vous", "tu", "du", "вы", "bạn"})
_SHARED = late(rf"(?P<who>.{{0,100}}?) ?(?:{'|'.join(_SENT)})\.?", re.IGNORECASE)

_WITH = r"\S{1,16}"
_REACTED = late(
    rf"liked a message|reacted {_WITH} to your message"
    rf"|le gustó un mensaje|reaccionó (?:con )?{_WITH} a tu mensaje"
    rf"|curtiu uma mensagem|reagiu (?:com )?{_WITH} à sua mensagem"
    rf"|a aimé un message|a réagi (?:avec )?{_WITH} à votre message"
    rf"|gefällt eine nachricht|hat mit {_WITH} auf deine nachricht reagiert"
    rf'|ha messo "mi piace" a un messaggio|ha aggiunto la reazione {_WITH}(?: (?:al tuo|a un) messaggio)?'
    rf"|bir mesajı beğendi"
    rf"|đã thích một tin nhắn|đã bày tỏ cảm xúc {_WITH} về tin nhắn của bạn"
    rf"|ถูกใจข้อความ|แสดงความรู้สึก ?{_WITH} ?ต่อข้อความ(?:ของคุณ)?",
    re.IGNORECASE,
)


def tells_of_a_reaction(text: str) -> bool:
    """Return whether the whole text says that its sender reacted. The message reacted to has the reaction itself."""
    return _REACTED.fullmatch(" ".join(text.split())) is not None


def tells_of_something_sent(text: str, sender: str, *, is_beside_it: bool) -> bool:
    """Return whether the whole text says that its sender sent something, and nothing else.

    Usually the same message holds what was sent. If it does not, the sentence must be about the sender.
    """
    found = _SHARED.fullmatch(" ".join(text.split()))
    if found is None:
        return False
    who = found["who"].casefold()
    return is_beside_it or who in _YOU or who in (sender.casefold(), *sender.casefold().split())
