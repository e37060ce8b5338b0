"""What verbs answer, hall by hall: values that faces render, imported with the hall that needs them."""
