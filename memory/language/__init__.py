"""What is known of languages and text without any model: splitting, dates, similarity, JSON."""
