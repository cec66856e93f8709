"""What the papers print, a module for each: their tables and figures as data, and the recipe of each row."""
