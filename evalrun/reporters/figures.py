# claimed by reports part
