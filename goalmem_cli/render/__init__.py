"""Everything that users see: pure functions from frozen data to Rich renderables. Nothing else imports rich."""
