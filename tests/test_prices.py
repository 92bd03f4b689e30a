# claimed by providers part
