"""What people see: pure functions of frozen data, in Rich. Nothing else imports rich."""
