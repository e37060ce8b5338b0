"""What is true. The only room with SQL on canonical tables."""
