"""Sites as they are reached: which pages they have, how they are fetched, and what is refused.

Websites and folders of strangers come in here and nowhere else; bytes and addresses go out, limited and checked."""
