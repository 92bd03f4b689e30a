# claimed by databases part
