import string

from bot.texts.words import Language, Word, describe


def test_every_sentence_is_there_in_every_language_with_the_same_blanks():
    for word in Word:
        texts = describe(word)
        assert set(texts) == {language.value for language in Language}
        blanks = [
            {name for _, name, _, _ in string.Formatter().parse(text)} for text in texts.values()
        ]
        assert blanks[0] == blanks[1], word
