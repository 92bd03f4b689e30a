# claimed by judge+persona helper
